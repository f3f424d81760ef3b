"""The numbers behind the dashboard's pages."""
