import { fileURLToPath } from 'node:url';

/** The bundled workflows, made by the build. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/** For workers that trace. Only here do workflows load OpenTelemetry. */
export const TRACED_BUNDLE_FILE = fileURLToPath(
  new URL('../../workflow-bundle-traced.cjs', import.meta.url),
);
