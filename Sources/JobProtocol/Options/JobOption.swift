package import JSON
package import Media
internal import OptionValues

/// One option of a kind of job: its name in JSON, its type, and the long option of `chatbot` that it becomes.
package struct JobOption: Sendable, Hashable {
  /// The type of a value, with its limits.
  package enum ValueType: Sendable, Hashable {
    /// `true` gives the option; `false` leaves it out.
    case flag
    /// `true` gives the option, `false` the option with `no-` before its name.
    case invertibleFlag
    /// A boolean that becomes `on` or `off`.
    case onOff
    /// A text such as `90s`, in milliseconds within these limits.
    case time(ClosedRange<Int64>)
    /// A text such as `10m`, or of bytes such as `500MB`: one, or an array of one of each.
    case segment
    /// A text such as `512MiB`, in bytes within these limits.
    case size(ClosedRange<Int64>)
    /// A text such as `2.5M`, in bits per second, within what a call can use.
    case bitrate
    /// A whole number.
    case integer(ClosedRange<Int64>)
    /// One of these words.
    case choice([String])
    /// A text of 1 to so many bytes of UTF-8.
    case text(maximumBytes: Int)
    /// The name of a participant, as others see it.
    case displayName
    /// Codecs of one kind, the best first: one name, or names separated by commas.
    case codecs(MediaKind)
    /// One video codec.
    case videoCodec
    /// A text such as `640x480`.
    case frameSize
    /// A number, or a text such as `30000/1001`.
    case frameRate
    /// `pattern`, or the name of a file in the library.
    case input
  }

  /// In camel case.
  package let name: String
  /// The long option, for example `--segment`.
  package let long: String
  package let type: ValueType
  /// How many values an array of them may have; 1 for a single value only.
  package let maximumValues: Int

  /// - Parameter long: the long option, if it is not the name in other letters.
  init(_ name: String, _ type: ValueType, long: String? = nil, upTo maximumValues: Int = 1) {
    self.name = name
    self.long = long ?? "--" + Self.hyphenated(name)
    self.type = type
    self.maximumValues = maximumValues
  }

  /// Returns a name in camel case as the words of a long option.
  static func hyphenated(_ name: String) -> String {
    name.reduce(into: "") { text, letter in
      if letter.isUppercase { text += "-" }
      text += letter.lowercased()
    }
  }

  /// The name of the test pattern as an input.
  package static let pattern = "pattern"
  /// The maximum length of a file's name in bytes, which is that of the file systems.
  private static let maximumFileName = 255
}

/// Checking of values.
extension JobOption {
  /// Returns the arguments of one value of JSON, without the option's name where there are none.
  ///
  /// - Parameter pointer: to the value.
  package func arguments(of value: JSONValue, at pointer: String, library: String? = nil) throws(JobProblem)
    -> [String]
  {
    guard case .array(let values) = value else { return try argument(of: value, at: pointer, library: library) }
    guard maximumValues > 1 else { throw JobProblem(pointer, "\(name) is one value, not an array.") }
    guard (1...maximumValues).contains(values.count) else {
      throw JobProblem(pointer, "\(name) has 1 to \(maximumValues) values, not \(values.count).")
    }
    var arguments: [String] = []
    var isTime: [Bool] = []
    for (index, value) in values.enumerated() {
      let place = JobProblem.pointer(pointer, "\(index)")
      arguments += try argument(of: value, at: place, library: library)
      if type == .segment, let text = value.string { isTime.append(try segment(text, at: place)) }
    }
    guard type != .segment || isTime == [true, false] else {
      throw JobProblem(pointer, "\(name) is a time, a size, or an array of a time and a size.")
    }
    return arguments
  }

  private func argument(of value: JSONValue, at pointer: String, library: String?) throws(JobProblem) -> [String] {
    func option(_ text: String) -> [String] { ["\(long)=\(text)"] }
    switch type {
    case .flag: return try bool(value, at: pointer) ? [long] : []
    case .invertibleFlag: return [try bool(value, at: pointer) ? long : "--no-" + long.dropFirst(2)]
    case .onOff: return option(try bool(value, at: pointer) ? "on" : "off")
    case .integer(let range):
      guard let number = value.integer, range.contains(number) else {
        throw JobProblem(
          pointer, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
      }
      return option("\(number)")
    case .frameRate:
      if let number = value.integer { return option(try parsed("\(number)", at: pointer) { try FrameRate($0) }) }
    default: break
    }
    guard let text = value.string else { throw JobProblem(pointer, "\(name) is a text.") }
    return option(try checked(text, at: pointer, library: library))
  }

  /// Returns the text for the command line.
  private func checked(_ text: UntrustedText, at pointer: String, library: String?) throws(JobProblem) -> String {
    switch type {
    case .text(let maximum): return try plain(text, maximum, at: pointer)
    case .displayName:
      let text = try plain(text, 1_024, at: pointer)
      guard DisplayName(text) != nil, text.unicodeScalars.count <= DisplayName.maximumLength else {
        throw JobProblem(
          pointer, "\(name) has 1 to \(DisplayName.maximumLength) characters, of which at least one is visible.")
      }
      return text
    case .input: return try input(text, at: pointer, library: library)
    default: break
    }
    guard let ascii = text.ascii, ascii.utf8.count <= 128 else {
      throw JobProblem(pointer, "\(name) has at most 128 ASCII characters.")
    }
    switch type {
    case .time(let range):
      return try parsed(ascii, at: pointer) { text throws in
        let time = try TimeSpan(text)
        guard range.contains(time.milliseconds) else {
          throw Sentence(
            "\(name) is \(TimeSpan(milliseconds: range.lowerBound)) to \(TimeSpan(milliseconds: range.upperBound)).")
        }
      }
    case .segment:
      _ = try segment(text, at: pointer)
      return ascii
    case .size(let range):
      return try parsed(ascii, at: pointer) { text throws in
        guard let size = try? ByteSize(text), range.contains(size.bytes) else {
          throw Sentence(
            "\(name) is a size from \(ByteSize(bytes: range.lowerBound)) to \(ByteSize(bytes: range.upperBound)).")
        }
      }
    case .bitrate: return try parsed(ascii, at: pointer) { try Bitrate($0) }
    case .frameSize: return try parsed(ascii, at: pointer) { try FrameSize($0) }
    case .frameRate: return try parsed(ascii, at: pointer) { try FrameRate($0) }
    case .codecs(let kind): return try parsed(ascii, at: pointer) { try CodecList.parse($0, of: kind) }
    case .videoCodec:
      return try parsed(ascii, at: pointer) { text throws in
        guard try CodecList.parse(text, of: .video).count == 1, !text.contains(",") else {
          throw Sentence("\(name) is one codec.")
        }
      }
    case .choice(let words):
      guard words.contains(ascii) else { throw JobProblem(pointer, "\(name) is \(Self.list(words)).") }
      return ascii
    case .flag, .invertibleFlag, .onOff, .integer, .text, .displayName, .input: return ascii
    }
  }

  private func bool(_ value: JSONValue, at pointer: String) throws(JobProblem) -> Bool {
    guard let flag = value.bool else { throw JobProblem(pointer, "\(name) is true or false.") }
    return flag
  }

  /// Whether a length of segments is a time.
  private func segment(_ text: UntrustedText, at pointer: String) throws(JobProblem) -> Bool {
    guard let ascii = text.ascii, ascii.utf8.count <= 128 else {
      throw JobProblem(pointer, "\(name) has at most 128 ASCII characters.")
    }
    do {
      if case .time = try SegmentLength(ascii) { return true }
      return false
    } catch {
      throw JobProblem(pointer, "\(error)")
    }
  }

  private func plain(_ text: UntrustedText, _ maximum: Int, at pointer: String) throws(JobProblem) -> String {
    guard (1...maximum).contains(text.utf8.count), !text.utf8.contains(0) else {
      throw JobProblem(pointer, "\(name) has 1 to \(maximum) bytes, of which none is zero.")
    }
    return text.string
  }

  /// Returns the path of a file in the library, or `pattern`.
  private func input(_ text: UntrustedText, at pointer: String, library: String?) throws(JobProblem) -> String {
    if text == UntrustedText(Self.pattern) { return Self.pattern }
    let bytes = Array(text.utf8)
    guard (1...Self.maximumFileName).contains(bytes.count), bytes.first != UInt8(ascii: "."),
      !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") })
    else {
      throw JobProblem(
        pointer, "\(name) is “\(Self.pattern)” or the name of a file in the library, which is not a path.")
    }
    // Without a library only the name is checked.
    guard let library else { return text.string }
    return library.hasSuffix("/") ? library + text.string : "\(library)/\(text.string)"
  }

  private func parsed<Value>(
    _ text: String, at pointer: String, _ parse: (String) throws -> Value
  ) throws(JobProblem) -> String {
    do {
      _ = try parse(text)
      return text
    } catch {
      throw JobProblem(pointer, "\(error)")
    }
  }

  /// Words in a sentence: `any, pattern or returned`.
  static func list(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : "\(words.dropLast().joined(separator: ", ")) or \(words[words.count - 1])"
  }

  private struct Sentence: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
  }
}
