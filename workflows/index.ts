/** All workflows. Each is registered under the name of its export. */
export { bonusBatch, payoutBatch } from './batch.js';
export { ledgerAudit } from './ledger-audit.js';
export { payout } from './payout.js';
export { schedule } from './schedule.js';
export { transfer } from './transfer.js';
export { webhookEndpoint } from './webhook-endpoint.js';
