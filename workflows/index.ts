/** Every workflow: what is exported here is registered under its name. */
export { transfer } from './transfer.js';
