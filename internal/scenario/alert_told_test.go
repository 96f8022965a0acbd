package scenario

// waiting is how many agents are in the alert of all that have none of their own.
const waiting = 60
