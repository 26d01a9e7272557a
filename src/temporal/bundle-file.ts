import { fileURLToPath } from 'node:url';

/**
 * Path of the bundled workflows. The build makes this file, so that a starting worker need not
 * compile.
 */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/**
 * Path of the bundle for workers that trace. In the normal bundle, no workflow loads
 * OpenTelemetry's modules.
 */
export const TRACED_BUNDLE_FILE = fileURLToPath(
  new URL('../../workflow-bundle-traced.cjs', import.meta.url),
);
