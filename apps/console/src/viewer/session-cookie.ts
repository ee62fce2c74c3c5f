import { Inject, Injectable } from '@nestjs/common';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleConfig } from '../config.js';

/** The form of a session token: 32 bytes as base64url. */
const TOKEN = /^[\w-]{43}$/;

/** The cookie with the session token. Only the host of the console gets it, scripts cannot read it. */
@Injectable()
export class SessionCookie {
  private readonly isSecure: boolean;
  /** Browsers accept the prefix only over HTTPS. Development uses HTTP. */
  private readonly name: string;

  constructor(@Inject(ConsoleConfig) { SVC_CONSOLE_URL }: ConsoleConfig) {
    this.isSecure = SVC_CONSOLE_URL.startsWith('https:');
    this.name = this.isSecure ? '__Host-session' : 'svc-console-session';
  }

  read(request: FastifyRequest): string | undefined {
    const token = parseCookie(request.headers.cookie ?? '')[this.name];
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  set(reply: FastifyReply, token: string, expiresUTCDate: string): void {
    this.write(reply, token, new Date(expiresUTCDate));
  }

  clear(reply: FastifyReply): void {
    this.write(reply, '', new Date(0));
  }

  private write(reply: FastifyReply, value: string, expires: Date): void {
    const { name, isSecure: secure } = this;
    reply.header(
      'set-cookie',
      stringifySetCookie({ name, value, expires, path: '/', httpOnly: true, secure, sameSite: 'lax' }),
    );
  }
}
