import { Controller, Inject } from '@nestjs/common';
import {
  type EndPersonSession,
  EndPersonSessionV1,
  ListPersonSessionsV1,
  type PersonActor,
  type PersonSession,
  type PersonSessionEntry,
  type ReadPersonSession,
  ReadPersonSessionV1,
} from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { readBrowser, readSessionHash, readUuid } from '../person/input.js';
import { AuthenticateActor } from './authenticate-actor.js';
import { toPersonSession, toSessionEntry } from './session.js';
import { deleteOtherSessions, deleteSession, listSessions, updateLastActive } from './session.repository.js';

/** Sessions of people: the console reads them for each page. A session is ended by deleting it, so repeats are harmless. */
@Controller()
export class SessionsConsumer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  @MessagePattern(ReadPersonSessionV1)
  async read({ sessionHash, browser, isActivity }: ReadPersonSession): Promise<{ session?: PersonSession }> {
    const session = await this.actors.find(readSessionHash(sessionHash), readBrowser(browser));
    if (!session) return {};
    if (isActivity && session.operatorRole !== null)
      await updateLastActive(this.dataSource.manager, session.personId, session.sessionId, this.clock.now());
    return { session: toPersonSession(session) };
  }

  @MessagePattern(ListPersonSessionsV1)
  async list({ actor }: { actor: PersonActor }): Promise<{ sessions: PersonSessionEntry[] }> {
    const { session } = await this.actors.authenticate(actor);
    const sessions = await listSessions(this.dataSource.manager, session.personId, this.clock.now());
    return { sessions: sessions.map((each) => toSessionEntry(each, session.sessionId)) };
  }

  /** The audit log has an entry if the person ends a session other than this one, as after the loss of a device. */
  @MessagePattern(EndPersonSessionV1)
  async end({ actor, sessions }: EndPersonSession): Promise<{ ended: number }> {
    const { session, author } = await this.actors.authenticate(actor);
    const { personId, sessionId } = session;
    if (sessions === 'current')
      return { ended: (await deleteSession(this.dataSource.manager, personId, sessionId)) ? 1 : 0 };
    return inTransaction(this.dataSource, async (tx) => {
      const ended =
        sessions === 'others'
          ? await deleteOtherSessions(tx, personId, sessionId)
          : Number(await deleteSession(tx, personId, readUuid(sessions)));
      if (ended === 0 && sessions !== 'others') throw new DomainError('resource.not-found');
      if (ended > 0)
        await this.auditLog.append(tx, author, { action: 'person.sessions-ended', after: { personId, ended } });
      return { ended };
    });
  }
}
