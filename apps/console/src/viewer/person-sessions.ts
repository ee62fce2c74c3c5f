import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type PersonActor, type PersonSession, ReadPersonSessionV1 } from '@svc/contracts';
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

  /**
   * @param isActivity false if the page renews itself: an idle session of an operator then ends in spite of it
   * @returns undefined if the browser is not signed in
   */
  find(
    { sessionHash, browser }: Pick<PersonActor, 'sessionHash' | 'browser'>,
    { isActivity }: { isActivity: boolean },
  ): Promise<PersonSession | undefined> {
    // An activity must reach identity, although the page has renewed itself within the last second.
    return this.cache.find(keyOf(sessionHash, browser, isActivity), async () => {
      const { session } = await this.commands.request(ReadPersonSessionV1, { sessionHash, browser, isActivity });
      return session;
    });
  }

  /** After a change of the person or of the session, identity is asked again. */
  forget(sessionHash: string, browser: string): void {
    for (const isActivity of [true, false]) this.cache.forget(keyOf(sessionHash, browser, isActivity));
  }
}

function keyOf(sessionHash: string, browser: string, isActivity: boolean): string {
  return `${sessionHash} ${browser} ${isActivity}`;
}

/** SHA-256 in hexadecimal, as identity stores tokens. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Identifies the browser for the time of a session. */
export function hashBrowser(request: FastifyRequest): string {
  return hashToken(request.headers['user-agent'] ?? '');
}
