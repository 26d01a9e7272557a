import { createLogging } from '../../src/http/logging.js';
import { endOnUncaught } from '../../src/processes/process-life.js';

/** Ends as a process of the service would after an uncaught error of the database. */
endOnUncaught(createLogging('info', 'test'));
setTimeout(() => {
  throw Object.assign(new Error("You have an error in your SQL syntax near 'Zenobia'"), {
    errno: 1064,
    sql: "INSERT INTO accounts (name) VALUES ('Zenobia'",
  });
}, 10);
setTimeout(() => undefined, 10_000);
