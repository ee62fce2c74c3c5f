/** What 3-D Secure 2 asks of a browser and only a script can say; the server reads the rest from the request. */
export interface ScreenAndClock {
  language: string;
  screenWidth: number;
  screenHeight: number;
  colorDepth: number;
  timeZoneOffsetMinutes: number;
}

/** Undefined in a browser that says none of it: a payment goes on without. */
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
