import type { StaffRight } from '../db/entities/staff.js';

/** The company's identity provider, as the configuration names it. (docs/contract.md, Sign-in by the company's provider) */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, proven by PKCE alone. */
  readonly clientSecret: string | null;
  readonly scope: string;
  /** The claim by which somebody is found the first time. */
  readonly nameClaim: string;
  /** The claim whose values give rights; null: a person has those that operators gave them. */
  readonly rights: RightsOfClaim | null;
}

export interface RightsOfClaim {
  readonly claim: string;
  readonly byValue: ReadonlyMap<string, readonly StaffRight[]>;
}
