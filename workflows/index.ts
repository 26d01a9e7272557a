/** Every workflow: each export is registered under its name. */
export { bonusBatch } from './bonus-batch.js';
export { ledgerAudit } from './ledger-audit.js';
export { payout } from './payout.js';
export { transfer } from './transfer.js';
export { webhookEndpoint } from './webhook-endpoint.js';
