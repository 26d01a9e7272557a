import { fileURLToPath } from 'node:url';

/** The workflows as one file, made by the build, so that a starting worker has nothing to compile. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/** For workers that trace: otherwise each workflow would load OpenTelemetry's modules for nothing. */
export const TRACED_BUNDLE_FILE = fileURLToPath(
  new URL('../../workflow-bundle-traced.cjs', import.meta.url),
);
