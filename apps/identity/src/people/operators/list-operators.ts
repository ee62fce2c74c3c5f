import { Inject, Injectable } from '@nestjs/common';
import type { OperatorRole, SecondFactor } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { toSecondFactors } from '../person/person.js';
import { listOperators } from '../roles/operator.repository.js';
import { listOperatorInvitations } from './operator-invitation.repository.js';

interface OperatorEntry {
  /** @schema uuid */
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  readonly role: OperatorRole;
  /** Empty: the person cannot use the console yet. */
  readonly secondFactors: SecondFactor[];
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly lastSignInUTCDate?: string;
}

interface OperatorInvitationEntry {
  /** @schema uuid */
  readonly invitationId: string;
  readonly email: string;
  readonly role: OperatorRole;
  readonly createdUTCDate: string;
  readonly expiresUTCDate: string;
}

/** Response of `GET /admin/v1/operators`. */
export interface OperatorList {
  /** By name. */
  readonly operators: OperatorEntry[];
  /** The invitations that are neither accepted nor expired, the newest first. */
  readonly invitations: OperatorInvitationEntry[];
}

/** Lists the operators of the platform, and their open invitations. */
@Injectable()
export class ListOperators {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(): Promise<OperatorList> {
    const { manager } = this.dataSource;
    const operators = await listOperators(manager);
    const invitations = await listOperatorInvitations(manager, this.clock.now());
    return {
      operators: operators.map(({ personId, name, email, role, lastSignInAt, ...factors }) => ({
        ...{ personId, name, email, role, secondFactors: toSecondFactors(factors) },
        ...(lastSignInAt ? { lastSignInUTCDate: lastSignInAt.toISOString() } : {}),
      })),
      invitations: invitations.map(({ invitationId, email, operatorRole, createdAt, expiresAt }) => ({
        ...{ invitationId, email, role: operatorRole },
        createdUTCDate: createdAt.toISOString(),
        expiresUTCDate: expiresAt.toISOString(),
      })),
    };
  }
}
