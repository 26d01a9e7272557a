import { z } from 'zod';
import type { ProviderSettings } from '../staff/subjects.js';
import { claimRights, nonEmpty, webUrl } from './values.js';

export const SIGN_IN_VARIABLES = {
  SUPPORT_OIDC_ISSUER: webUrl
    .optional()
    .describe(
      "the company's OpenID Connect provider, as its discovery document names it; if unset, staff sign in with codes only",
    ),
  SUPPORT_OIDC_CLIENT_ID: nonEmpty.optional().describe("the desk's client id at the provider"),
  SUPPORT_OIDC_CLIENT_SECRET: nonEmpty
    .optional()
    .describe(
      'secret: authenticates the desk to the provider; if unset, it is a public client with PKCE only',
    ),
  SUPPORT_OIDC_SCOPE: z
    .string()
    .regex(/^openid( [\x21-\x7e]+)*$/, 'must begin with openid, with spaces between')
    .default('openid profile')
    .describe('scopes that the desk asks the provider for'),
  SUPPORT_OIDC_NAME_CLAIM: nonEmpty
    .default('preferred_username')
    .describe("claim of the ID token with a person's staff name; used only the first time"),
  SUPPORT_OIDC_RIGHTS_CLAIM: nonEmpty
    .default('groups')
    .describe('claim of the ID token whose values SUPPORT_OIDC_RIGHTS names'),
  SUPPORT_OIDC_RIGHTS: claimRights
    .optional()
    .describe(
      'rights of a session by the values of that claim, such as support=approve+cancel,leads=all; never more than the person has; if unset, all that the person has',
    ),
  SUPPORT_CODE_SIGN_IN: z
    .enum(['on', 'off'])
    .default('on')
    .describe('off: no sign-in by name and code; moving money still asks for a code'),
} as const;

const schema = z.object(SIGN_IN_VARIABLES);
type SignInConfig = Readonly<z.infer<typeof schema>>;

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

export function signInFaults(config: SignInConfig): string[] {
  const { SUPPORT_OIDC_ISSUER: issuer, SUPPORT_OIDC_CLIENT_ID: clientId } = config;
  if (issuer === undefined) {
    const hasSettings = clientId !== undefined || config.SUPPORT_OIDC_RIGHTS !== undefined;
    const isLocked = config.SUPPORT_CODE_SIGN_IN === 'off';
    return [
      ...(hasSettings
        ? ['  SUPPORT_OIDC_ISSUER: is not set, although other settings of the provider are']
        : []),
      ...(isLocked
        ? ['  SUPPORT_CODE_SIGN_IN: nobody could sign in without SUPPORT_OIDC_ISSUER']
        : []),
    ];
  }
  const url = new URL(issuer);
  const isGuarded = url.protocol === 'https:' || LOOPBACK.has(url.hostname);
  return [
    ...(isGuarded ? [] : ['  SUPPORT_OIDC_ISSUER: must be https, except on this machine']),
    ...(clientId === undefined
      ? ['  SUPPORT_OIDC_CLIENT_ID: is not set, although SUPPORT_OIDC_ISSUER is']
      : []),
  ];
}

export function providerOf(config: SignInConfig): ProviderSettings | null {
  const {
    SUPPORT_OIDC_ISSUER: issuer,
    SUPPORT_OIDC_CLIENT_ID: clientId,
    SUPPORT_OIDC_RIGHTS: byValue,
  } = config;
  if (issuer === undefined || clientId === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret: config.SUPPORT_OIDC_CLIENT_SECRET ?? null,
    scope: config.SUPPORT_OIDC_SCOPE,
    nameClaim: config.SUPPORT_OIDC_NAME_CLAIM,
    rights: byValue === undefined ? null : { claim: config.SUPPORT_OIDC_RIGHTS_CLAIM, byValue },
  };
}
