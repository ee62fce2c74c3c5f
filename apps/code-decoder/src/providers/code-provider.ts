import type { DecodeResponse, Mode } from '@svc/contracts';
import type { CodeFragments } from './support-test.js';

/** What a provider says of a code. */
export type ProviderAnswer =
  | { readonly kind: 'known'; readonly decoded: DecodeResponse }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** The provider did not answer in time, or not in a way that can be understood: nothing is known of the code. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';

  constructor(provider: string, why: string, cause?: unknown) {
    super(`The provider ${provider} could not be asked: ${why}.`, { cause });
  }
}

/** The port to a third party that gives out codes of its own (D4). */
export interface CodeProvider {
  readonly name: string;
  /** Codes are looked up for keys of this mode alone (A6). */
  readonly mode: Mode;
  /** By these a code is recognised as the provider's (D2). */
  readonly fragments: CodeFragments;
  /** Whether it is asked about codes that are recognised as nobody's (D3). */
  readonly verifiesUnknown: boolean;
  /** Throws {@link ProviderUnavailable}, within its own deadline. */
  find(code: string): Promise<ProviderAnswer>;
  close(): Promise<void>;
}
