import type { Mode } from '@svc/contracts';
import { ConfigError, readSettingFile, ServiceConfig } from '@svc/service';
import { IsOptional, IsString, MaxLength, MinLength } from 'class-validator';

/** The settings of one mode. A mode without settings is off. */
export interface AdyenSettings {
  /** Sent with each call. A secret. */
  readonly apiKey: string;
  /** The keys that authenticate webhooks: one, or two during a rotation. Secrets. */
  readonly hmacKeys: readonly string[];
  /** User of the basic authentication with which Adyen calls the webhook endpoint. */
  readonly webhookUser: string;
  /** A secret. */
  readonly webhookPassword: string;
  /** User of the report service, which downloads settlement reports and can do nothing else. */
  readonly reportUser: string;
  /** A secret. */
  readonly reportPassword: string;
  /** Base URL of the Checkout API with its version, without a slash at the end. */
  readonly checkoutUrl: string;
  /** The merchant account at Adyen that stores the cards of all customers. */
  readonly vaultAccount: string;
}

/** A mode without settings is off. */
export type AdyenSettingsByMode = Readonly<Partial<Record<Mode, AdyenSettings>>>;

/** Injection token of {@link AdyenSettingsByMode}. */
export const ADYEN_SETTINGS = Symbol('ADYEN_SETTINGS');

type SettingName =
  | 'API_KEY'
  | 'HMAC_KEYS'
  | 'WEBHOOK_USER'
  | 'WEBHOOK_PASSWORD'
  | 'REPORT_USER'
  | 'REPORT_PASSWORD'
  | 'CHECKOUT_URL'
  | 'VAULT_ACCOUNT'
  | 'URL_PREFIX';

type ModeName = Uppercase<Mode>;
type Variable = `SVC_ADYEN_${ModeName}_${SettingName}`;

interface SettingRule {
  readonly pattern: RegExp;
  /** Completes the sentence "SVC_ADYEN_… must be …" of an error. */
  readonly description: string;
  readonly isOptional?: true;
}

/** A header can contain these characters. Basic authentication separates the user from the password with a colon. */
const SECRET = /^[!-~]{16,512}$/;
const USER = /^[!-9;-~]{1,100}$/;
const SECRET_TEXT = '16 to 512 printable ASCII characters without spaces';
const USER_TEXT = '1 to 100 printable ASCII characters without spaces and colons';

/**
 * The settings of each mode. Each can also be given as the path of a file: `SVC_ADYEN_TEST_API_KEY_FILE`. All required
 * settings of a mode are set, or none.
 */
const RULES: Readonly<Record<SettingName, SettingRule>> = {
  API_KEY: { pattern: SECRET, description: SECRET_TEXT },
  HMAC_KEYS: {
    pattern: /^[0-9A-Fa-f]{64}(,[0-9A-Fa-f]{64})?$/,
    description: 'one key of 64 hexadecimal digits, or two separated by a comma',
  },
  WEBHOOK_USER: { pattern: USER, description: USER_TEXT },
  WEBHOOK_PASSWORD: { pattern: SECRET, description: SECRET_TEXT },
  REPORT_USER: { pattern: USER, description: USER_TEXT },
  REPORT_PASSWORD: { pattern: SECRET, description: SECRET_TEXT },
  VAULT_ACCOUNT: { pattern: /^[!-~]{1,100}$/, description: '1 to 100 printable ASCII characters without spaces' },
  // Required in live mode, because each company has its own host there. Test mode has no prefix.
  URL_PREFIX: {
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
    description: 'the prefix under Developers > API URLs of the live Customer Area',
    isOptional: true,
  },
  CHECKOUT_URL: {
    pattern: /^https?:\/\/[^\s?#]{1,190}[^\s?#/]$/,
    description: 'a URL with http or https, without a query and without a slash at the end',
    isOptional: true,
  },
};
const SETTING_NAMES = Object.keys(RULES) as SettingName[];
/** These settings must differ between the modes, so that a test setting is never accepted in live mode. */
const SECRETS = ['API_KEY', 'HMAC_KEYS', 'WEBHOOK_PASSWORD', 'REPORT_PASSWORD'] as const;
const MODES: readonly Mode[] = ['test', 'live'];

/**
 * The variables of Adyen, {@link RULES} for each mode: `SVC_ADYEN_TEST_API_KEY`, `SVC_ADYEN_LIVE_API_KEY_FILE` and so
 * on. {@link readAdyenSettings} checks them.
 */
export class AdyenConfig extends ServiceConfig {
  readonly [variable: `SVC_ADYEN_${string}`]: string | undefined;
}
for (const variable of MODES.flatMap(variablesOf))
  for (const rule of [IsOptional(), IsString(), MinLength(1), MaxLength(4096)]) rule(AdyenConfig.prototype, variable);

function variablesOf(mode: Mode): string[] {
  return SETTING_NAMES.map((name) => variableOf(mode, name)).flatMap((variable) => [variable, `${variable}_FILE`]);
}

function variableOf(mode: Mode, name: SettingName): Variable {
  return `SVC_ADYEN_${mode.toUpperCase() as ModeName}_${name}`;
}

/**
 * Returns the settings of each mode that has settings. Throws a {@link ConfigError} that lists all problems, and contains
 * no value of a setting.
 */
export function readAdyenSettings(config: AdyenConfig): AdyenSettingsByMode {
  const problems: string[] = [];
  const texts = Object.fromEntries(MODES.map((mode) => [mode, readTexts(config, mode, problems)])) as TextsByMode;
  for (const mode of MODES) problems.push(...findProblems(mode, texts[mode], config.SVC_ENVIRONMENT));
  problems.push(...findSharedSecrets(texts));
  if (problems.length > 0) throw new ConfigError(`The configuration of Adyen is not usable: ${problems.join('; ')}.`);
  return Object.fromEntries(
    MODES.filter((mode) => isOn(texts[mode])).map((mode) => [mode, toSettings(mode, texts[mode])]),
  );
}

type Texts = Readonly<Partial<Record<SettingName, string>>>;
type TextsByMode = Readonly<Record<Mode, Texts>>;
const isOn = (texts: Texts): boolean => Object.keys(texts).length > 0;

function readTexts(config: AdyenConfig, mode: Mode, problems: string[]): Texts {
  const texts: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const variable = variableOf(mode, name);
    const text = config[variable];
    const file = config[`${variable}_FILE`];
    if (text !== undefined && file !== undefined) problems.push(`${variable} and ${variable}_FILE are both set`);
    const value = file === undefined ? text : readSettingFile(file);
    // An unreadable file counts as an invalid value, so that the mode is not off by mistake.
    if (text !== undefined || file !== undefined) texts[name] = value ?? '';
    if (file !== undefined && value === undefined) problems.push(`the file of ${variable}_FILE cannot be read`);
  }
  return texts;
}

function findProblems(mode: Mode, texts: Texts, environment: ServiceConfig['SVC_ENVIRONMENT']): string[] {
  if (!isOn(texts)) return [];
  const problems: string[] = [];
  for (const name of SETTING_NAMES) {
    const { pattern, description, isOptional } = RULES[name];
    const text = texts[name];
    if (text !== undefined && !pattern.test(text)) problems.push(`${variableOf(mode, name)} must be ${description}`);
    const isRequired = isOptional !== true || (name === 'URL_PREFIX' && mode === 'live');
    if (text === undefined && isRequired) problems.push(`${variableOf(mode, name)} or its _FILE is missing`);
  }
  const [first, second] = (texts.HMAC_KEYS ?? '').toLowerCase().split(',');
  if (first !== '' && first === second) problems.push(`${variableOf(mode, 'HMAC_KEYS')} contains a key twice`);
  if (mode === 'test' && texts.URL_PREFIX !== undefined)
    problems.push(`${variableOf(mode, 'URL_PREFIX')} is not a setting: only live hosts have a prefix`);
  const urlProblem = texts.CHECKOUT_URL !== undefined && findUrlProblem(mode, texts.CHECKOUT_URL, environment);
  if (urlProblem) problems.push(`${variableOf(mode, 'CHECKOUT_URL')} ${urlProblem}`);
  return problems;
}

/** Hosts of the Checkout API: its OpenAPI document, "Going live". */
const LIVE_HOST = /-live\.adyenpayments\.com$/i;
const TEST_HOST = /^[a-z0-9-]+-test\.adyen\.com$/i;

/** Card data is only sent to Adyen. In development it may also be sent to an emulator, but never to the other mode. */
function findUrlProblem(mode: Mode, url: string, environment: ServiceConfig['SVC_ENVIRONMENT']): string | undefined {
  const { protocol, hostname, username } = URL.parse(url) ?? {};
  if (hostname === undefined || username !== '') return 'is not a usable URL';
  if ((mode === 'live' ? TEST_HOST : LIVE_HOST).test(hostname)) return `is the URL of the other mode, not of ${mode}`;
  const isAdyens = protocol === 'https:' && (mode === 'live' ? LIVE_HOST : TEST_HOST).test(hostname);
  return isAdyens || environment === 'development' ? undefined : "must be Adyen's own URL in production";
}

function findSharedSecrets({ test, live }: TextsByMode): string[] {
  return SECRETS.filter((name) => {
    const testValues = new Set(test[name]?.toLowerCase().split(','));
    return live[name]?.split(',').some((value) => testValues.has(value.toLowerCase()));
  }).map((name) => `${variableOf('live', name)} has the value of ${variableOf('test', name)}`);
}

/** The values have been checked. */
function toSettings(mode: Mode, texts: Texts): AdyenSettings {
  const text = (name: SettingName): string => texts[name]!;
  return {
    apiKey: text('API_KEY'),
    hmacKeys: text('HMAC_KEYS').split(','),
    webhookUser: text('WEBHOOK_USER'),
    webhookPassword: text('WEBHOOK_PASSWORD'),
    reportUser: text('REPORT_USER'),
    reportPassword: text('REPORT_PASSWORD'),
    vaultAccount: text('VAULT_ACCOUNT'),
    checkoutUrl:
      texts.CHECKOUT_URL ??
      (mode === 'live'
        ? `https://${text('URL_PREFIX')}-checkout-live.adyenpayments.com/checkout/v71`
        : 'https://checkout-test.adyen.com/v71'),
  };
}
