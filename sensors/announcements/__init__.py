"""How heads announce themselves on MQTT, and which keys read them. Knows no broker and no clock."""
