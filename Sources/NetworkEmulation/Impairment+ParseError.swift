extension Impairment {
  /// Why a text is no impairment.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case emptyStep
    case unknownSetting(String)
    case unknownDirection(String)
    case noValue(Setting)
    case noUnit(Setting, String)
    case notReadable(Setting, String)
    case outOfRange(Setting, String)
    case givenTwice(Setting)
    /// The first is of no use without the second.
    case needs(Setting, Setting)
    /// The most is a share, 0 to 1.
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
        "The impairment's \(setting.rawValue)=\(text) has no unit: it is \(setting.unit ?? "a number"), like \(setting.example)."
      case .notReadable(let setting, let text):
        "The impairment's \(setting.rawValue)=\(text) cannot be read: it is \(setting.unit ?? "a number"), like \(setting.example)."
      case .outOfRange(let setting, let text):
        "The impairment's \(setting.rawValue)=\(text) is out of range: \(setting.range) are possible."
      case .givenTwice(let setting):
        "The impairment's \(setting.rawValue) is given twice for the same direction and time."
      case .needs(let setting, let other):
        "The impairment's \(setting.rawValue) says nothing without \(other.rawValue); write it like "
          + "\(other.example),\(setting.example)."
      case .tooMuchLoss(let loss, let burst, let most):
        "A loss of \(loss) cannot come in bursts of \(burst) on average, which lose "
          + "\(ImpairmentFormat.number((most * 1_000).rounded(.down) / 10))% at most; make the bursts longer or leave burst out."
      case .noneWithOthers:
        "In an impairment, none takes away everything and stands without other settings."
      case .badTime(let text):
        "\"\(text)\" is no time for an impairment's step to begin at; write it like 0s:, 1500ms: or 2m:."
      case .timesFall(let earlier, let later):
        "An impairment's steps come in the order of time, but \(later) comes after \(earlier)."
      case .setTwice(let direction, let time):
        "Two steps of an impairment set the \(direction.rawValue) direction at \(time); put their settings together with commas."
      }
    }

    private static var settings: String {
      let names = Setting.allCases.map(\.rawValue)
      return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }
  }
}
