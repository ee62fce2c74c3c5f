// Runs before each test file of the Jest project postgres-15: its databases are on the oldest PostgreSQL.
process.env.SVC_TEST_DATABASE_URLS = process.env.SVC_TEST_OLDEST_DATABASE_URLS;
