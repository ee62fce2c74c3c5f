import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Expired rows are kept for this time, so that a replica with a slow clock still finds them. */
const KEEP_EXPIRED_MS = 60_000;

/** The use of a challenge by a pay request. */
export interface ChallengeUse {
  /** UUID of the challenge. */
  readonly challengeId: string;
  /** The `reference` of the pay request. */
  readonly reference: string;
  readonly solution: number;
  readonly expiresAtMs: number;
}

/** Stores which challenges were used, for all replicas. */
@Injectable()
export class UsedChallengeRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Uses a challenge once. True also for a repeat of the same pay request: the first one may have failed before the
   * payment was made. False for another payment, and for another solution: otherwise a client could try all numbers
   * here instead of computing the solution. Concurrent uses wait for each other.
   *
   * Also deletes two expired uses, so that the table needs no clean-up job: it shrinks as long as it is used.
   */
  async use({ challengeId, reference, solution, expiresAtMs }: ChallengeUse, now: Date): Promise<boolean> {
    const expiredBefore = new Date(now.getTime() - KEEP_EXPIRED_MS);
    const rows = await this.dataSource.query<unknown[]>(
      `WITH expired AS (
         DELETE FROM used_challenges WHERE challenge_id IN (
           SELECT challenge_id FROM used_challenges WHERE expires_at < $5
            ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED)
       )
       INSERT INTO used_challenges AS used (challenge_id, reference, solution, expires_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (challenge_id) DO UPDATE SET reference = excluded.reference
        WHERE used.reference = excluded.reference AND used.solution = excluded.solution
       RETURNING challenge_id`,
      [challengeId, reference, solution, new Date(expiresAtMs), expiredBefore],
    );
    return rows.length > 0;
  }
}
