/** The emulator's clock: the real time plus an offset, which the control interface increases. */
export class EmulatorClock {
  private offsetMs = 0;

  constructor(private readonly realNow: () => Date) {}

  now(): Date {
    return new Date(this.realNow().getTime() + this.offsetMs);
  }

  /** The time in ISO 8601 UTC. */
  nowText(): string {
    return this.now().toISOString();
  }

  get offset(): number {
    return this.offsetMs;
  }

  setOffset(offsetMs: number): void {
    this.offsetMs = offsetMs;
  }
}
