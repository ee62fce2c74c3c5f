import type { Mode } from '@svc/contracts';
import { registerDecorator } from 'class-validator';

/** Configuration of a third-party provider of codes (D4). */
export interface ProviderSettings {
  /** Name of the provider in logs: lower-case letters, digits and dashes. */
  readonly name: string;
  /** The provider is queried only for API keys of this mode (A6). */
  readonly mode: Mode;
  /** The service queries a code at `<baseUrl>/codes/<code as base64url>`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. A secret. */
  readonly apiKey: string;
  /** Timeout of a request in milliseconds, from 100 to 10 000. */
  readonly timeoutMs: number;
  /**
   * Fragments of the addresses in the provider's codes (D2), such as a host; at most 20. A code that contains one of
   * these fragments belongs to this provider.
   */
  readonly hosts: readonly string[];
  /** Fragments of the provider's short links (D2), at most 20. */
  readonly shortLinks: readonly string[];
  /** Whether the provider is also queried for codes that contain no provider's fragment (D3). */
  readonly verifiesUnknown: boolean;
}

const MAX_PROVIDERS = 20;
const MAX_FRAGMENTS = 20;

/** Parses the configured providers, or returns an error message. */
export function parseProviders(
  text: string,
): { providers: ProviderSettings[]; problem?: undefined } | { problem: string } {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  if (!Array.isArray(list) || list.length > MAX_PROVIDERS)
    return { problem: `must be a list of at most ${MAX_PROVIDERS} providers` };
  const invalidEntries = list.flatMap((entry: unknown, index) => {
    const invalidMembers = Object.entries(CHECKS).filter(
      ([name, isValid]) => !isValid((entry as Record<string, unknown> | null)?.[name]),
    );
    return invalidMembers.length === 0 ? [] : [`[${index}] ${invalidMembers.map(([name]) => name).join(', ')}`];
  });
  if (invalidEntries.length > 0) return { problem: `has invalid members: ${invalidEntries.join('; ')}` };
  const providers = list as ProviderSettings[];
  if (new Set(providers.map(({ name }) => name)).size < providers.length) return { problem: 'contains a name twice' };
  return { providers };
}

/** The check of each member: whether its value is valid. */
const CHECKS: { readonly [Name in keyof ProviderSettings]: (value: unknown) => boolean } = {
  name: (value) => typeof value === 'string' && /^[a-z0-9-]{1,50}$/.test(value),
  mode: (value) => value === 'test' || value === 'live',
  baseUrl: (value) => typeof value === 'string' && /^https?:\/\/[^?#]{1,500}[^/?#]$/.test(value) && URL.canParse(value),
  apiKey: (value) => typeof value === 'string' && /^[\x21-\x7e]{1,500}$/.test(value),
  timeoutMs: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 10_000,
  hosts: isFragmentList,
  shortLinks: isFragmentList,
  verifiesUnknown: (value) => typeof value === 'boolean',
};

/**
 * Fragments have at least 3 characters. Shorter fragments would match almost every code, and one provider would get all
 * codes.
 */
function isFragmentList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MAX_FRAGMENTS &&
    value.every((fragment) => typeof fragment === 'string' && /^\S{3,100}$/.test(fragment))
  );
}

/**
 * Validates text with {@link parseProviders}. The message contains names of members, never values, which may be
 * credentials.
 */
export function IsProviderList(): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isProviderList',
      target: target.constructor,
      propertyName: propertyKey as string,
      validator: {
        validate: (value: unknown) => typeof value === 'string' && parseProviders(value).problem === undefined,
        defaultMessage: (args) =>
          `${String(propertyKey)} ${parseProviders(String(args?.value)).problem ?? 'is not text'}`,
      },
    });
}
