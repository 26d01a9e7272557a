/**
 * Downloads the official release of the Temporal development server: `download-temporal.mjs VERSION FOLDER`. The SDK
 * fetches and unpacks it, and starts it once. A separate process, so that a hanging download can be killed.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [version, folder] = process.argv.slice(2);
const executable = { type: 'cached-download', version: `v${version}`, downloadDir: folder };
const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
await environment.teardown();
process.exit(0);
