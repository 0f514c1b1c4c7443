/// What was found out about a file.
enum RepairFinding: Sendable, Hashable {
  /// It was closed in good order.
  case whole(Duration)
  case mendable(RepairPlan)
  /// It is left alone, for a reason that completes “FILE …”.
  case refused(String)

  /// How many places a search behind damage looks at, in all; each costs some reading.
  static let mostPlaces = 10_000
  static let goesOnBehindItsEnd = RepairFinding.refused("holds more behind the end of its recording")
  static let tooDamaged = RepairFinding.refused("is damaged in too many places")
}
