import type { Mode } from '@svc/contracts';
import { registerDecorator } from 'class-validator';

/** Configuration of a third-party provider of codes (D4). */
export interface ProviderSettings {
  /** For logs; lower-case letters, digits and dashes. */
  readonly name: string;
  /** API keys of the other mode never query it (A6). */
  readonly mode: Mode;
  /** Codes are looked up at `<baseUrl>/codes/<code as base64url>`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. A secret. */
  readonly apiKey: string;
  /** Timeout of a request in milliseconds, from 100 to 10 000. */
  readonly timeoutMs: number;
  /** Fragments of its addresses (D2), at most 20. A code that contains one belongs to this provider. */
  readonly hosts: readonly string[];
  /** Fragments of its short links (D2), at most 20. */
  readonly shortLinks: readonly string[];
  /** Whether it is also queried for codes that match no provider (D3). */
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
  const wrong = list.flatMap((entry: unknown, index) => {
    const members = Object.entries(CHECKS).filter(
      ([name, holds]) => !holds((entry as Record<string, unknown> | null)?.[name]),
    );
    return members.length === 0 ? [] : [`[${index}] ${members.map(([name]) => name).join(', ')}`];
  });
  if (wrong.length > 0) return { problem: `is wrong in ${wrong.join('; ')}` };
  const providers = list as ProviderSettings[];
  if (new Set(providers.map(({ name }) => name)).size < providers.length) return { problem: 'names a provider twice' };
  return { providers };
}

const CHECKS: { readonly [Name in keyof ProviderSettings]: (value: unknown) => boolean } = {
  name: (value) => typeof value === 'string' && /^[a-z0-9-]{1,50}$/.test(value),
  mode: (value) => value === 'test' || value === 'live',
  baseUrl: (value) => typeof value === 'string' && /^https?:\/\/[^?#]{1,500}[^/?#]$/.test(value) && URL.canParse(value),
  apiKey: (value) => typeof value === 'string' && /^[\x21-\x7e]{1,500}$/.test(value),
  timeoutMs: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 10_000,
  hosts: isFragments,
  shortLinks: isFragments,
  verifiesUnknown: (value) => typeof value === 'boolean',
};

/** Minimum 3 characters: shorter fragments would match almost every code, so one provider would get all codes. */
function isFragments(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MAX_FRAGMENTS &&
    value.every((fragment) => typeof fragment === 'string' && /^\S{3,100}$/.test(fragment))
  );
}

/** Validates a text with {@link parseProviders}. The message names members, never values, which may be credentials. */
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
