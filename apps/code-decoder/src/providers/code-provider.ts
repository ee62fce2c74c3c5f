import type { DecodeResponse, Mode } from '@svc/contracts';
import type { CodeFragments } from './code-format.js';

/** The result of a query to a provider for a code. */
export type ProviderResult =
  | { readonly kind: 'known'; readonly decoded: DecodeResponse }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** The provider did not respond in time, or its response is invalid. It is unknown whether the code exists. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';

  constructor(provider: string, reason: string, cause?: unknown) {
    super(`The request to the code provider ${provider} failed: ${reason}.`, { cause });
  }
}

/** A third-party provider of codes (D4). */
export interface CodeProvider {
  readonly name: string;
  /** The provider is queried only for API keys of this mode (A6). */
  readonly mode: Mode;
  /** Fragments that identify the provider's codes (D2). */
  readonly fragments: CodeFragments;
  /** Whether the provider is also queried for codes that contain no provider's fragment (D3). */
  readonly verifiesUnknown: boolean;
  /** Queries the provider. Throws {@link ProviderUnavailableError}, at the latest after the provider's timeout. */
  find(code: string): Promise<ProviderResult>;
  close(): Promise<void>;
}
