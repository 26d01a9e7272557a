/** All versions, newest first. (docs/contract.md, Versions) */
export const API_VERSIONS = ['2026-11-01'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];
export const CURRENT_VERSION: ApiVersion = API_VERSIONS[0];
