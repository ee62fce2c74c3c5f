import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type PersonSession, ReadPersonSessionV1 } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyRequest } from 'fastify';

/** Reads the sessions of people from identity. */
@Injectable()
export class PersonSessions {
  /** For one second, so a session that was ended elsewhere is refused soon. */
  private readonly cache: TtlCache<PersonSession>;

  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.cache = new TtlCache(clock);
  }

  /** @returns undefined if the browser is not signed in */
  find(sessionHash: string, browser: string): Promise<PersonSession | undefined> {
    return this.cache.find(`${sessionHash} ${browser}`, async () => {
      const { session } = await this.commands.request(ReadPersonSessionV1, { sessionHash, browser });
      return session;
    });
  }

  /** After a change of the person or of the session, identity is asked again. */
  forget(sessionHash: string, browser: string): void {
    this.cache.forget(`${sessionHash} ${browser}`);
  }
}

/** SHA-256 in hexadecimal, as identity stores tokens. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Identifies the browser for the time of a session. */
export function hashBrowser(request: FastifyRequest): string {
  return hashToken(request.headers['user-agent'] ?? '');
}
