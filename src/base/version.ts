/** Version of the program, as package.json has it; a test holds the two equal, because a bundle has no package.json beside it. */
export const VERSION = "0.0.0";
