import JSON
import Media
import OptionValues
import Yams

/// Reads the values of a YAML document, and collects a problem with its line for each key that is unknown and each value that
/// cannot be used.
///
/// A class, because the closures that read the values of a mapping share it.
final class SettingsReader {
  private(set) var problems: [ConfigurationError.Problem] = []

  /// The maximum number of entries of a list or mapping.
  private static let maximumEntries = 1_000

  func report(_ sentence: String, at node: Node) {
    problems.append(.init(line: Self.line(of: node), sentence: sentence))
  }

  static func line(of node: Node) -> Int { node.mark?.line ?? 1 }

  /// Calls the closure of each key. An empty value is an empty mapping.
  func mapping(_ node: Node, _ name: String, _ keys: [String: (Node) -> Void]) {
    for (key, keyNode, value) in entries(of: node, name) {
      guard let read = keys[key] else {
        let advice = Self.nearest(to: key, among: keys.keys).map { " Did you mean “\($0)”?" } ?? ""
        let owner = name.isEmpty ? "" : " of “\(name)”"
        report("“\(key.printable(utf8Bytes: 60))” is not a setting\(owner).\(advice)", at: keyNode)
        continue
      }
      // “key:” without a value leaves the default.
      if isEmpty(value) { continue }
      read(value)
    }
  }

  /// The entries of a mapping whose keys are names that the user chooses.
  func entries(of node: Node, _ name: String) -> [(key: String, keyNode: Node, value: Node)] {
    if isEmpty(node) { return [] }
    guard case .mapping(let mapping) = node else {
      report("\(name.isEmpty ? "The configuration" : "“\(name)”") must be a list of keys with values.", at: node)
      return []
    }
    guard mapping.count <= Self.maximumEntries else {
      report("“\(name)” has more than \(Self.maximumEntries) entries.", at: node)
      return []
    }
    return mapping.compactMap { key, value in
      guard case .scalar(let scalar) = key else {
        report("A key must be a word.", at: key)
        return nil
      }
      return (scalar.string, key, value)
    }
  }

  func text(_ node: Node, _ name: String, maximumBytes: Int = 4_096) -> String? {
    guard case .scalar(let scalar) = node else {
      report("“\(name)” must be a text.", at: node)
      return nil
    }
    let text = scalar.string
    guard !text.isEmpty, text.utf8.count <= maximumBytes,
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else {
      report("“\(name)” must be a text of 1 to \(maximumBytes) bytes without control characters.", at: node)
      return nil
    }
    return text
  }

  func boolean(_ node: Node, _ name: String) -> Bool? {
    switch plain(node) {
    case "true": return true
    case "false": return false
    default:
      report("“\(name)” must be true or false.", at: node)
      return nil
    }
  }

  func integer(_ node: Node, _ name: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = plain(node), let number = Int(text), range.contains(number) else {
      report("“\(name)” must be a whole number from \(range.lowerBound) to \(range.upperBound).", at: node)
      return nil
    }
    return number
  }

  /// A number from 1 to 100, or to another maximum, with or without a percent sign.
  func percentage(_ node: Node, _ name: String, atMost maximum: Int = 100) -> Int? {
    guard let text = plain(node), let number = Int(text.utf8.last == UInt8(ascii: "%") ? text.dropLast() : text[...]),
      (1...maximum).contains(number)
    else {
      report("“\(name)” must be 1% to \(maximum)%.", at: node)
      return nil
    }
    return number
  }

  /// Whether the value is this word.
  func isWord(_ node: Node, _ word: String) -> Bool { plain(node) == word }

  /// A time with a unit, also `d` for days.
  func time(_ node: Node, _ name: String, atLeast minimum: TimeSpan = TimeSpan(milliseconds: 0)) -> TimeSpan? {
    guard let text = plain(node) else {
      report("“\(name)” must be a time, like 10m.", at: node)
      return nil
    }
    do {
      let span: TimeSpan
      if text.utf8.last == UInt8(ascii: "d"), let days = Int64(text.dropLast()), (0...36_500).contains(days) {
        span = TimeSpan(milliseconds: days * 86_400_000)
      } else {
        span = try TimeSpan(text.prefix(utf8Bytes: 40))
      }
      if span.milliseconds >= minimum.milliseconds { return span }
      report("“\(name)” must be at least \(minimum).", at: node)
    } catch {
      report("“\(name)”: \(error)", at: node)
    }
    return nil
  }

  func size(_ node: Node, _ name: String) -> Int64? {
    guard let text = plain(node) else {
      report("“\(name)” must be a size, like 10GB.", at: node)
      return nil
    }
    if text == "0" { return 0 }
    do {
      return try ByteSize.parseFileSize(text.prefix(utf8Bytes: 40)).bytes
    } catch {
      report("“\(name)”: \(error)", at: node)
      return nil
    }
  }

  func choice<Value: RawRepresentable & CaseIterable>(_ node: Node, _ name: String, _ type: Value.Type) -> Value?
  where Value.RawValue == String {
    if let value = plain(node).flatMap({ Value(rawValue: $0) }) { return value }
    let names = Value.allCases.map(\.rawValue)
    report("“\(name)” must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "").", at: node)
    return nil
  }

  func texts(_ node: Node, _ name: String) -> [String]? {
    guard case .sequence(let sequence) = node else { return text(node, name).map { [$0] } }
    guard sequence.count <= Self.maximumEntries else {
      report("“\(name)” has more than \(Self.maximumEntries) entries.", at: node)
      return nil
    }
    let texts = sequence.compactMap { text($0, name) }
    return texts.count == sequence.count ? texts : nil
  }

  /// A value of any type: a quoted text is a text, a plain one what it looks like.
  func value(_ node: Node, _ name: String) -> JSONValue? {
    switch node {
    case .scalar(let scalar):
      let text = scalar.string
      guard text.utf8.count <= 4_096 else { break }
      guard scalar.style == .plain || scalar.style == .any else { return .string(UntrustedText(text)) }
      switch text {
      case "true": return .bool(true)
      case "false": return .bool(false)
      default:
        let isNumeric = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }
        if isNumeric, let number = Double(text), number.isFinite { return .number(number) }
        return .string(UntrustedText(text))
      }
    case .sequence(let sequence) where sequence.count <= Self.maximumEntries:
      // A list of lists has no meaning for any option.
      let values = sequence.compactMap { item -> JSONValue? in
        guard case .scalar = item else { return nil }
        return value(item, name)
      }
      if values.count == sequence.count { return .array(values) }
    default: break
    }
    report("“\(name)” must be a text, a number, true, false or a list of these.", at: node)
    return nil
  }

  private func plain(_ node: Node) -> String? {
    guard case .scalar(let scalar) = node else { return nil }
    return scalar.string
  }

  private func isEmpty(_ node: Node) -> Bool {
    guard case .scalar(let scalar) = node else { return false }
    return scalar.string.isEmpty && scalar.style != .doubleQuoted && scalar.style != .singleQuoted
  }

  private static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    guard word.utf8.count <= 40 else { return nil }
    let letters = Array(word.lowercased())
    return words.sorted().map { ($0, EditDistance.distance(letters, Array($0.lowercased()))) }
      .filter { $0.1 <= 2 }.min { $0.1 < $1.1 }?.0
  }
}
