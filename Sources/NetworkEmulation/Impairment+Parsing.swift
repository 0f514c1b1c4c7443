extension Impairment {
  /// Reads what a user writes.
  ///
  /// ```
  /// loss=5%,burst=3,delay=80ms,jitter=20ms,rate=500kbit,queue=300ms,reorder=1%
  /// delay=20ms, send: loss=5%, receive: rate=1Mbit
  /// 0s: loss=1%; 10s: rate=150kbit; 20s: none
  /// ```
  ///
  /// Steps are separated by semicolons; one without a time is of the time of the step before, the first of 0 s. A step tells all
  /// that holds from then on in the directions that it names, and in both if it names none. A direction before a setting is that
  /// of all settings behind it in the step.
  ///
  /// - Parameter seed: of all chances.
  public init(parsing text: String, seed: UInt64) throws(ParseError) {
    self.init(seed: seed)
    var time = Duration.zero
    for part in text.split(separator: ";", omittingEmptySubsequences: false) {
      var rest = part.trimmed
      if let colon = rest.firstIndex(of: ":"), rest.first?.isNumber == true {
        let next = try ImpairmentFormat.time(ofStep: rest[..<colon].trimmed)
        if next < time { throw .timesFall(earlier: ImpairmentFormat.text(time), later: ImpairmentFormat.text(next)) }
        time = next
        rest = rest[rest.index(after: colon)...].trimmed
      }
      if rest.isEmpty { throw .emptyStep }
      var draft = StepBuilder()
      try draft.read(rest)
      for direction in Direction.allCases {
        guard let conditions = try draft.conditions(direction) else { continue }
        if steps(direction).last?.time == time { throw .setTwice(direction, time: ImpairmentFormat.text(time)) }
        append(Step(at: time, conditions), direction)
      }
    }
  }

  private mutating func append(_ step: Step, _ direction: Direction) {
    switch direction {
    case .send: send.append(step)
    case .receive: receive.append(step)
    }
  }
}

/// One step while it is read.
private struct StepBuilder {
  typealias Direction = Impairment.Direction
  typealias ParseError = Impairment.ParseError

  /// For each direction that is named, its settings as they are written, in order.
  private var settings: [Direction: [(setting: Impairment.Setting, value: Substring)]] = [:]
  private var isNone: Set<Direction> = []

  mutating func read(_ text: Substring) throws(ParseError) {
    var directions = Direction.allCases
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      var item = part.trimmed
      if let colon = item.firstIndex(of: ":") {
        let name = item[..<colon].trimmed
        guard let direction = Direction(rawValue: String(name)) else { throw .unknownDirection(String(name)) }
        directions = [direction]
        item = item[item.index(after: colon)...].trimmed
      }
      if item.isEmpty { throw .emptyStep }
      for direction in directions { try add(item, direction) }
    }
  }

  private mutating func add(_ item: Substring, _ direction: Direction) throws(ParseError) {
    if item == "none" {
      isNone.insert(direction)
      if settings[direction, default: []].isEmpty { return }
    }
    if isNone.contains(direction) { throw .noneWithOthers }
    let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String((halves.first ?? item).trimmed)
    guard let setting = Impairment.Setting(rawValue: name) else { throw .unknownSetting(name) }
    guard let value = halves.dropFirst().first?.trimmed, !value.isEmpty else { throw .noValue(setting) }
    if settings[direction, default: []].contains(where: { $0.setting == setting }) { throw .givenTwice(setting) }
    settings[direction, default: []].append((setting, value))
  }

  /// What holds in a direction; nil if the step does not name it.
  func conditions(_ direction: Direction) throws(ParseError) -> Impairment.Conditions? {
    if isNone.contains(direction) { return Impairment.Conditions() }
    guard let settings = settings[direction] else { return nil }
    var conditions = Impairment.Conditions()
    for (setting, value) in settings { try setting.set(value, in: &conditions) }
    try conditions.check(isGiven: { setting in settings.contains { $0.setting == setting } })
    return conditions
  }
}

extension Impairment.Conditions {
  /// Checks what settings ask of each other.
  fileprivate func check(isGiven: (Impairment.Setting) -> Bool) throws(Impairment.ParseError) {
    if isGiven(.queue), rate == nil { throw .needs(.queue, .rate) }
    guard let burst else { return }
    if !isGiven(.loss) { throw .needs(.burst, .loss) }
    let most = Self.mostLoss(burst: burst)
    if loss > most {
      throw .tooMuchLoss(ImpairmentFormat.percent(loss), burst: ImpairmentFormat.number(burst), most: most)
    }
  }
}
