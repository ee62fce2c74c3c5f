import { IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';

/** Final states of notifications that were not delivered. */
const FAILED_STATES = ['exhausted', 'gone'] as const;

/**
 * Body of `POST /admin/v1/notifications/replays` (E5). Either `state`, or both `merchantId` and `since`, are required.
 * The other fields narrow the selection.
 */
export class ReplayManyRequest {
  /** State of undelivered notifications: `exhausted` or `gone`. */
  @IsOptional()
  @IsIn(FAILED_STATES, { message: '$property must be exhausted or gone' })
  state?: (typeof FAILED_STATES)[number];

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(999_999_999_999_999)
  merchantId?: number;

  /** Host and port as in the list of circuits, e.g. `shop.example:443`. */
  @IsOptional()
  @Matches(/^[^\s/@]{1,293}:\d{1,5}$/, { message: '$property must be a host and a port, such as shop.example:443' })
  endpoint?: string;

  /**
   * Only notifications that were created at this time or later, ISO 8601 UTC.
   * @schema date-time
   */
  @IsOptional()
  @Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/, {
    message: '$property must be a time such as 2026-03-01T10:00:00Z',
  })
  since?: string;

  /** Continues after this notification: `after` of the previous page. */
  @IsOptional()
  @IsUUID()
  after?: string;
}
