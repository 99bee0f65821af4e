"""What people see of the office: findings, stock, due dates, the forms of the daily entries, the survey. Pure."""
