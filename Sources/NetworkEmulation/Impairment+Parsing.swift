extension Impairment {
  /// Parses the text form of an impairment.
  ///
  /// ```
  /// loss=5%,burst=3,delay=80ms,jitter=20ms,rate=500kbit,queue=300ms,reorder=1%
  /// delay=20ms, send: loss=5%, receive: rate=1Mbit
  /// 0s: loss=1%; 10s: rate=150kbit; 20s: none
  /// ```
  ///
  /// Steps are separated by semicolons. A step without a time begins at the time of the step before, the first one at 0 s.
  /// A step defines all conditions from then on in the directions that it names, and in both if it names none. A direction
  /// before a setting applies to all settings after it in the step.
  ///
  /// - Parameters:
  ///   - text: the steps, as above.
  ///   - seed: the seed of all random numbers.
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

/// One step while it is parsed.
private struct StepBuilder {
  typealias Direction = Impairment.Direction
  typealias ParseError = Impairment.ParseError

  /// For each named direction, its settings as written, in order.
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

  /// Returns the conditions of a direction, or nil if the step does not name it.
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
  /// Checks the dependencies between settings.
  fileprivate func check(isGiven: (Impairment.Setting) -> Bool) throws(Impairment.ParseError) {
    if isGiven(.queue), rate == nil { throw .needs(.queue, .rate) }
    guard let burst else { return }
    if !isGiven(.loss) { throw .needs(.burst, .loss) }
    let most = Self.maximumLoss(burst: burst)
    if loss > most {
      throw .tooMuchLoss(ImpairmentFormat.percent(loss), burst: ImpairmentFormat.number(burst), most: most)
    }
  }
}

extension Impairment {
  /// Why a text is not a valid impairment.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case emptyStep
    case unknownSetting(String)
    case unknownDirection(String)
    case noValue(Setting)
    case noUnit(Setting, String)
    case notReadable(Setting, String)
    case outOfRange(Setting, String)
    case givenTwice(Setting)
    /// The first has no effect without the second.
    case needs(Setting, Setting)
    /// The maximum is a share, 0 to 1.
    case tooMuchLoss(String, burst: String, most: Double)
    case noneWithOthers
    case badTime(String)
    case timesFall(earlier: String, later: String)
    case setTwice(Direction, time: String)

    public var description: String {
      switch self {
      case .emptyStep:
        "An impairment has a part without a setting; write it like loss=5%,delay=80ms, or none."
      case .unknownSetting(let name):
        "An impairment has no setting \"\(name)\"; there are \(Self.settings)."
      case .unknownDirection(let name):
        "\"\(name):\" is neither a direction, which is send: or receive:, nor the time of a step, like 10s:."
      case .noValue(let setting):
        "The impairment's \(setting.rawValue) has no value; write it like \(setting.example)."
      case .noUnit(let setting, let text):
        "The impairment's \(setting.rawValue)=\(text) has no unit: use \(setting.unit ?? "a number"), like \(setting.example)."
      case .notReadable(let setting, let text):
        "The impairment's \(setting.rawValue)=\(text) is invalid: use \(setting.unit ?? "a number"), like \(setting.example)."
      case .outOfRange(let setting, let text):
        "The impairment's \(setting.rawValue)=\(text) is out of range: it must be \(setting.range)."
      case .givenTwice(let setting):
        "The impairment's \(setting.rawValue) is given twice for the same direction and time."
      case .needs(let setting, let other):
        "The impairment's \(setting.rawValue) has no effect without \(other.rawValue); write it like "
          + "\(other.example),\(setting.example)."
      case .tooMuchLoss(let loss, let burst, let most):
        "A loss of \(loss) is impossible with bursts of \(burst) on average, which lose "
          + "\(ImpairmentFormat.number((most * 1_000).rounded(.down) / 10))% at most; make the bursts longer or leave burst out."
      case .noneWithOthers:
        "In an impairment, none removes every setting and cannot be combined with others."
      case .badTime(let text):
        "\"\(text)\" is not a valid start time of an impairment's step; write it like 0s:, 1500ms: or 2m:."
      case .timesFall(let earlier, let later):
        "An impairment's steps must be in order of time, but \(later) follows \(earlier)."
      case .setTwice(let direction, let time):
        "Two steps of an impairment set the \(direction.rawValue) direction at \(time); join their settings with commas."
      }
    }

    private static var settings: String {
      let names = Setting.allCases.map(\.rawValue)
      return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }
  }
}
