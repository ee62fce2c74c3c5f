import type { Mode } from '@svc/contracts';
import { registerDecorator } from 'class-validator';

/** A third-party provider of codes, as it is configured (D4). */
export interface ProviderSettings {
  /** For logs; lower-case letters, digits and dashes. */
  readonly name: string;
  /** Keys of the other mode never reach it (A6). */
  readonly mode: Mode;
  /** Codes are asked for at `<baseUrl>/codes/<code as base64url>`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. A secret. */
  readonly apiKey: string;
  /** Longest wait for an answer, in milliseconds, from 100 to 10 000. */
  readonly timeoutMs: number;
  /** Parts of its addresses (D2), at most 20; a code that has one belongs to it. */
  readonly hosts: readonly string[];
  /** Parts of its short links (D2), at most 20. */
  readonly shortLinks: readonly string[];
  /** Whether it is asked about codes of no known address too (D3). */
  readonly verifiesUnknown: boolean;
}

const PROVIDERS_MAX = 20;
const FRAGMENTS_MAX = 20;

/** The configured providers, or what is wrong with them, in words. */
export function readProviders(
  text: string,
): { providers: ProviderSettings[]; problem?: undefined } | { problem: string } {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  if (!Array.isArray(list) || list.length > PROVIDERS_MAX)
    return { problem: `must be a list of at most ${PROVIDERS_MAX} providers` };
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

/** Short ones would be in nearly every code, and give all of them to one provider. */
function isFragments(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= FRAGMENTS_MAX &&
    value.every((fragment) => typeof fragment === 'string' && /^\S{3,100}$/.test(fragment))
  );
}

/** A text that {@link readProviders} reads. The message names members, never values: there are credentials among them. */
export function IsProviderList(): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isProviderList',
      target: target.constructor,
      propertyName: propertyKey as string,
      validator: {
        validate: (value: unknown) => typeof value === 'string' && readProviders(value).problem === undefined,
        defaultMessage: (args) =>
          `${String(propertyKey)} ${readProviders(String(args?.value)).problem ?? 'is not text'}`,
      },
    });
}
