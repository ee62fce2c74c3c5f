import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { ConsoleConfig } from '../config.js';

/** The origin at which passkeys work. Browsers create none for an IP address, so there the pages do not offer them. */
@Injectable()
export class PasskeyOrigin {
  /** undefined if the console has an IP address instead of a host name. */
  readonly value: string | undefined;

  constructor(@Inject(ConsoleConfig) { SVC_CONSOLE_URL }: ConsoleConfig) {
    const { hostname, origin } = new URL(SVC_CONSOLE_URL);
    this.value = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? origin : undefined;
  }
}
