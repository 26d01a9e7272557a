import { closeTestDatabase } from './database.js';

/** Ends what the tests of a file left open. Nothing is opened here, so unit tests need no server. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    await closeTestDatabase();
  },
};
