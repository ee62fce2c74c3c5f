import type { DecodeResponse, Mode } from '@svc/contracts';
import type { CodeFragments } from './code-format.js';

/** Result of a provider's look-up of a code. */
export type ProviderResult =
  | { readonly kind: 'known'; readonly decoded: DecodeResponse }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** The provider did not respond in time, or its response is invalid: the code may or may not exist. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';

  constructor(provider: string, why: string, cause?: unknown) {
    super(`The request to the code provider ${provider} failed: ${why}.`, { cause });
  }
}

/** Port to a third-party provider of codes (D4). */
export interface CodeProvider {
  readonly name: string;
  /** Only API keys of this mode look up codes here (A6). */
  readonly mode: Mode;
  /** Fragments that identify the provider's codes (D2). */
  readonly fragments: CodeFragments;
  /** Whether it is also queried for codes that match no provider (D3). */
  readonly verifiesUnknown: boolean;
  /** Throws {@link ProviderUnavailableError}, within its own deadline. */
  find(code: string): Promise<ProviderResult>;
  close(): Promise<void>;
}
