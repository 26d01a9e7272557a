import { fileURLToPath } from 'node:url';

/** The workflows as one file, made by the build, so that a starting worker has nothing to compile. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/**
 * The same for workers that trace. Otherwise each workflow would load OpenTelemetry's modules whether anything is
 * traced or not.
 */
export const TRACED_BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle-traced.cjs', import.meta.url));
