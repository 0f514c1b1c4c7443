import ArgumentParser

/// The options for when a call ends.
struct EndingOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave when everybody else has left, and nobody came for this time: 30s, 5m.", valueName: "time"),
    transform: TimeSpan.parse)
  var leaveWhenEmpty: TimeSpan?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Leave if nobody came in this time since joining: 30s, 5m.", valueName: "time"),
    transform: TimeSpan.parse)
  var leaveIfNobody: TimeSpan?
}
