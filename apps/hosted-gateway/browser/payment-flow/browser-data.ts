/** Browser data for 3-D Secure 2 that only a script can read; the server reads the rest from the request. */
export interface ScreenAndClock {
  language: string;
  screenWidth: number;
  screenHeight: number;
  colorDepth: number;
  timeZoneOffsetMinutes: number;
}

/** Undefined in a browser that does not provide it: a payment does not need it. */
export function readBrowserData(): ScreenAndClock | undefined {
  try {
    return {
      language: navigator.language,
      screenWidth: screen.width,
      screenHeight: screen.height,
      colorDepth: screen.colorDepth,
      timeZoneOffsetMinutes: new Date().getTimezoneOffset(),
    };
  } catch {
    return undefined;
  }
}
