"""What a depot.toml names outside the machine, built for the watch: lines, brokers, outputs, supplies and scales."""
