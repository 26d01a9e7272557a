/**
 * Downloads the official release of the Temporal development server: `download-temporal.mjs VERSION FOLDER`. The SDK fetches
 * and unpacks it, and starts it once. A process of its own, so that a download that hangs can be ended.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [version, folder] = process.argv.slice(2);
const executable = { type: 'cached-download', version: `v${version}`, downloadDir: folder };
const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
await environment.teardown();
process.exit(0);
