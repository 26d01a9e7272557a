import type { StaffRight } from '../db/entities/staff.js';

/** The company's identity provider. (docs/contract.md, Sign-in by the company's provider) */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which PKCE alone authenticates. */
  readonly clientSecret: string | null;
  readonly scope: string;
  /** The claim by which a person is found the first time. */
  readonly nameClaim: string;
  /** The claim whose values grant rights. Null: people have the rights that operators gave them. */
  readonly rights: RightsOfClaim | null;
}

export interface RightsOfClaim {
  readonly claim: string;
  readonly byValue: ReadonlyMap<string, readonly StaffRight[]>;
}
