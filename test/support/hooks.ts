/** Ends what the tests of a file left open. Nothing is opened here, so unit tests need no server. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    // Loaded where there may be something to end: all that it needs takes a unit test most of a second.
    if (process.env.TEST_MYSQL_ADMIN_URL !== undefined) await (await import('./database.js')).closeTestDatabase();
  },
};
