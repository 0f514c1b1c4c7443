import JobProtocol
import Media
package import SQLStore

/// The parameters of a query. Unknown, repeated and broken ones are refused. Pure.
package struct APIQuery: Sendable, Hashable {
  package private(set) var values: [String: String] = [:]

  /// The maximum number of jobs and events of an answer.
  package static let maximumLimit = 200
  package static let maximumLogLines = 10_000
  package static let maximumFiles = 1_000
  private static let maximumParameters = 40
  package static let labelPrefix = "label."

  /// - Parameters:
  ///   - text: what follows the question mark.
  ///   - known: the names that are allowed, beside `label.NAME` where `hasLabels` is set.
  package init(_ text: String?, known: Set<String>, hasLabels: Bool = false) throws(APIProblem) {
    guard let text, !text.isEmpty else { return }
    let parts = text.utf8.split(separator: UInt8(ascii: "&"))
    guard parts.count <= Self.maximumParameters else {
      throw APIProblem(.invalidParameter, "There are too many parameters.")
    }
    for part in parts {
      let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(pair[0], plusIsSpace: true),
        let value = pair.count == 2 ? PercentEncoding.decode(pair[1], plusIsSpace: true) : ""
      else { throw APIProblem(.invalidParameter, "A parameter is not percent-encoded UTF-8.") }
      let shown = name.printable(utf8Bytes: 80)
      let isLabel = hasLabels && name.utf8.starts(with: Self.labelPrefix.utf8)
      guard known.contains(name) || isLabel else { throw .parameter(shown, "There is no such parameter.") }
      guard values.updateValue(value, forKey: name) == nil else {
        throw .parameter(shown, "The parameter is given twice.")
      }
    }
  }

  /// - Parameter maximum: also the value without the parameter.
  package func limit(maximum: Int = maximumLimit, default missing: Int = 50) throws(APIProblem) -> Int {
    guard let text = values["limit"] else { return missing }
    guard text.utf8.count <= 6, let limit = Int(text), (1...maximum).contains(limit), "\(limit)" == text else {
      throw .parameter("limit", "limit is a whole number from 1 to \(maximum).")
    }
    return limit
  }

  package func filter() throws(APIProblem) -> JobFilter {
    var filter = JobFilter()
    if let text = values["state"] {
      let names = JobState.allCases.map(\.rawValue).joined(separator: ", ")
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let state = JobState(rawValue: String(name)) else {
          throw .parameter("state", "A state is one of \(names); several are separated by commas.")
        }
        if !filter.states.contains(state) { filter.states.append(state) }
      }
    }
    if let text = values["kind"] {
      let names = JobKind.allCases.map(\.rawValue).joined(separator: ", ")
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let kind = JobKind(rawValue: String(name)) else {
          throw .parameter("kind", "A kind is one of \(names); several are separated by commas.")
        }
        if !filter.kinds.contains(kind.rawValue) { filter.kinds.append(kind.rawValue) }
      }
    }
    filter.room = values["room"]
    if let text = values["createdAfter"] {
      guard let time = APITime.parse(text) else {
        throw .parameter("createdAfter", "createdAfter is a time such as 2026-12-01T09:00:00Z.")
      }
      filter.createdAfter = time
    }
    for (name, value) in values where name.utf8.starts(with: Self.labelPrefix.utf8) {
      let label = String(name.dropFirst(Self.labelPrefix.count))
      guard (1...JobRequest.maximumLabelName).contains(label.utf8.count) else {
        throw .parameter(
          name.printable(utf8Bytes: 80), "The name of a label has 1 to \(JobRequest.maximumLabelName) bytes.")
      }
      filter.labels[label] = value
    }
    guard filter.labels.count <= JobRequest.maximumLabels else {
      throw APIProblem(.invalidParameter, "There are too many labels.")
    }
    return filter
  }

  package func deliveryFilter() throws(APIProblem) -> DeliveryFilter {
    var filter = DeliveryFilter()
    if let text = values["state"] {
      guard let state = DeliveryState(rawValue: text) else {
        let names = DeliveryState.allCases.map(\.rawValue).joined(separator: ", ")
        throw .parameter("state", "The state of a delivery is one of \(names).")
      }
      filter.state = state
    }
    if let text = values["job"] {
      guard let job = JobID(text) else { throw .parameter("job", "job is the id of a job.") }
      filter.job = job
    }
    return filter
  }

  package func delivery() throws(APIProblem) -> DeliveryID? {
    guard let text = values["after"] else { return nil }
    guard let id = DeliveryID(text) else { throw .parameter("after", Cursor.sentence) }
    return id
  }

  package func jobPosition() throws(APIProblem) -> JobPosition? {
    guard let text = values["after"] else { return nil }
    guard let position = Cursor.jobPosition(text) else { throw .parameter("after", Cursor.sentence) }
    return position
  }

  package func filePosition() throws(APIProblem) -> FilePosition? {
    guard let text = values["after"] else { return nil }
    guard let position = Cursor.filePosition(text) else { throw .parameter("after", Cursor.sentence) }
    return position
  }

  package func event() throws(APIProblem) -> Int64 {
    guard let text = values["after"] else { return 0 }
    guard let event = Cursor.event(text) else { throw .parameter("after", Cursor.sentence) }
    return event
  }
}

/// The values of `after`, which callers only hand back: letters and digits of ASCII.
package enum Cursor {
  /// The newest event, for streams of what happens from now on.
  static let now = "now"
  static let sentence = "after is a value that an answer of this service gave."

  package static func text(_ position: JobPosition) -> String { "j\(position.createdAt)z\(position.id.text)" }
  package static func text(event: Int64) -> String { "e\(event)" }

  /// Names of files have any characters, so that their bytes are written in hexadecimal digits.
  package static func text(_ position: FilePosition) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let name = position.name.utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return "f\(position.attempt)z\(String(decoding: name, as: UTF8.self))"
  }

  package static func filePosition(_ text: String) -> FilePosition? {
    guard text.utf8.count <= 2_100, text.utf8.first == UInt8(ascii: "f") else { return nil }
    let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "z"), omittingEmptySubsequences: false)
    guard parts.count == 2, let attempt = number(Substring(parts[0])), parts[1].count % 2 == 0 else { return nil }
    var (name, digits) = ([UInt8](), parts[1])
    while let high = digits.popFirst(), let low = digits.popFirst() {
      guard let high = value(ofDigit: high), let low = value(ofDigit: low) else { return nil }
      name.append(high << 4 | low)
    }
    guard !name.contains(0) else { return nil }
    // A name that is not UTF-8 is no file's, and only a position among the names.
    return FilePosition(attempt: attempt, name: String(decoding: name, as: UTF8.self))
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }

  package static func jobPosition(_ text: String) -> JobPosition? {
    guard text.utf8.count <= 64, text.utf8.first == UInt8(ascii: "j") else { return nil }
    let parts = text.dropFirst().split(separator: "z", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = number(parts[0]), let id = JobID(String(parts[1])) else { return nil }
    return JobPosition(createdAt: time, id: id)
  }

  package static func event(_ text: String) -> Int64? {
    guard text.utf8.first == UInt8(ascii: "e") else { return nil }
    return number(text.dropFirst())
  }

  private static func number(_ digits: Substring) -> Int64? {
    guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(digits)
  }
}

/// A range of bytes that a request asks for (RFC 9110, 14.1.2). Pure.
package enum ByteRange {
  /// - Parameters:
  ///   - header: the value of `Range`; nil for none.
  ///   - size: of the file.
  /// - Returns: the range; nil for the whole file, also where the header has another unit or several ranges.
  /// - Throws: a problem if the range is outside the file.
  package static func range(_ header: String?, size: Int64) throws(APIProblem) -> Range<Int64>? {
    guard let header, header.utf8.count <= 100, header.utf8.starts(with: "bytes=".utf8) else { return nil }
    let bounds = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    func number(_ text: Substring) -> Int64? {
      guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int64(text)
    }
    var outside: APIProblem {
      var problem = APIProblem(.rangeNotSatisfiable)
      problem.size = size
      return problem
    }
    if bounds[0].isEmpty {
      guard let count = number(bounds[1]) else { return nil }
      guard count > 0, size > 0 else { throw outside }
      return max(0, size - count)..<size
    }
    guard let first = number(bounds[0]) else { return nil }
    var last = size - 1
    if !bounds[1].isEmpty {
      guard let given = number(bounds[1]), given >= first else { return nil }
      last = min(last, given)
    }
    guard first < size else { throw outside }
    return first..<(last + 1)
  }
}
