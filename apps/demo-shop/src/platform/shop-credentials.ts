import { readFile, stat } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { DemoShopConfig } from '../config.js';

/** The credentials that the merchant received at on-boarding. */
export interface Credentials {
  readonly merchantId: number;
  readonly siteId: number;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** A larger file is rejected, because it is not a credentials file. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The credentials of the first site of the first merchant, from the file that `./svc up` writes. */
@Injectable()
export class ShopCredentials {
  private cached: { readonly version: string; readonly credentials: Credentials } | undefined;

  constructor(@Inject(DemoShopConfig) private readonly config: DemoShopConfig) {}

  /** Reads the file if it has changed. @throws DomainError service.not-ready while the file is missing or incomplete */
  async get(): Promise<Credentials> {
    const file = this.config.SVC_SHOP_CREDENTIALS_FILE;
    try {
      const { size, mtimeMs, ino } = await stat(file);
      const version = `${ino}:${size}:${mtimeMs}`;
      if (this.cached?.version === version) return this.cached.credentials;
      if (size > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes`);
      const credentials = readCredentials(await readFile(file, 'utf8'));
      this.cached = { version, credentials };
      return credentials;
    } catch (cause) {
      throw new DomainError('service.not-ready', {
        message: 'The shop has not been given its keys yet. Try again in a moment.',
        retryAfterSeconds: 1,
        cause,
      });
    }
  }
}

/** Parses the file. @throws Error that names the missing field, but contains no value of the file */
export function readCredentials(json: string): Credentials {
  const demo = JSON.parse(json) as { merchants?: { merchantId?: unknown; sites?: Record<string, unknown>[] }[] };
  const merchant = demo.merchants?.[0];
  const site = merchant?.sites?.[0];
  return {
    merchantId: requireNumber('merchantId', merchant?.merchantId),
    siteId: requireNumber('siteId', site?.['siteId']),
    apiKey: requireText('apiKey', site?.['apiKey']),
    webhookSecret: requireText('webhookSecret', site?.['webhookSecret']),
  };
}

function requireNumber(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Error(`${name} of the first site is missing in the credentials`);
  return value as number;
}

function requireText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new Error(`${name} of the first site is missing in the credentials`);
  return value;
}
