import { fileURLToPath } from 'node:url';

/** The workflows as one file, made when the code is built: a worker that starts has nothing to compile. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/** The same for workers that trace: each workflow would load its part of OpenTelemetry, whether anything is traced or not. */
export const TRACED_BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle-traced.cjs', import.meta.url));
