package import JSON
internal import Media
internal import OptionValues

/// The options of each kind of job: names, types and limits. The names are the long options of the commands in camel case.
///
/// Options that name a file or a folder, an address or a program of this machine are left out: who submits a job has none there.
package enum JobOptions {
  /// The options of a kind.
  package static func of(_ kind: JobKind) -> [JobOption] {
    switch kind {
    case .record: recording + messages + connection
    case .play: playing + messages + connection
    case .loopback: [JobOption("delay", .time(0...10_000))] + connection
    case .check: checking + playing + connection
    }
  }

  private static let connection = [
    JobOption("name", .displayName),
    JobOption("call", .text(maximumBytes: 256), upTo: 100),
    JobOption("maxUsers", .integer(1...10_000)),
    JobOption("mediaThreads", .integer(1...64)),
    JobOption("videoCodecs", .codecs(.video)),
    JobOption("audioCodecs", .codecs(.audio)),
    JobOption("audioRedundancy", .onOff),
    JobOption("waitForServer", .time(0...3_600_000)),
  ]

  private static let messages = [JobOption("say", .text(maximumBytes: 4_096), upTo: 100)]

  private static let recording = [
    JobOption("segment", .segment, upTo: 2),
    JobOption("verify", .onOff),
    JobOption("queueMemory", .size((1 << 20)...(64 << 30))),
    JobOption("consent", .choice(["given", "required"])),
  ]

  private static let playing = [
    JobOption("input", .input, long: "--play"),
    JobOption("size", .frameSize),
    JobOption("fps", .frameRate),
    JobOption("live", .flag),
    JobOption("sendCodec", .videoCodec),
    JobOption("maxBitrate", .bitrate),
    JobOption("once", .flag),
  ]

  private static let checking = [
    JobOption("peers", .integer(1...100)),
    JobOption("ignore", .text(maximumBytes: 256), upTo: 100),
    JobOption("only", .text(maximumBytes: 256), upTo: 100),
    JobOption("wait", .time(1...3_600_000)),
    JobOption("for", .time(1_000...86_400_000)),
    JobOption("expect", .text(maximumBytes: 512), upTo: 100),
    JobOption("content", .choice(["any", "pattern", "returned"])),
    JobOption("noAudio", .flag),
    JobOption("noVideo", .flag),
    JobOption("impair", .text(maximumBytes: 2_048)),
    JobOption("seed", .integer(0...(1 << 53))),
    JobOption("data", .bitrate),
    JobOption("fault", .text(maximumBytes: 64)),
  ]

  /// The options of ``JobServer/options``, which are those of the operator of the service.
  package static let network = [
    JobOption("caCertificate", .text(maximumBytes: 4_096)),
    JobOption("allowRedirects", .flag),
    JobOption("iceTransportPolicy", .choice(["all", "relay"])),
    JobOption("turnCredentialLifetime", .time(5_000...2_592_000_000)),
    JobOption("udpPort", .integer(0...65_535)),
    JobOption("tcp", .flag),
    JobOption("tcpPort", .integer(0...65_535)),
    JobOption("bindAddress", .text(maximumBytes: 64)),
    JobOption("bindInterface", .text(maximumBytes: 15), upTo: 16),
    JobOption("allowLocalCandidates", .invertibleFlag),
    JobOption("mdns", .invertibleFlag),
    JobOption("hideAddresses", .flag),
  ]

  /// Checks the options of a kind.
  ///
  /// - Parameters:
  ///   - options: the object of the options.
  ///   - pointer: to that object, for example `/record`.
  /// - Returns: what is wrong, in the order of the names; empty if they can be used.
  package static func validate(_ options: JSONValue, of kind: JobKind, at pointer: String) -> [JobProblem] {
    guard case .object(let fields) = options else { return [JobProblem(pointer, "The options are an object.")] }
    return arguments(fields, in: of(kind), at: pointer, library: nil).problems
      + contradictions(fields, of: kind, at: pointer)
  }

  /// The arguments of options that are all valid, and what is wrong with the others.
  static func arguments(
    _ fields: [String: JSONValue], in table: [JobOption], at pointer: String, library: String?
  ) -> (arguments: [String], problems: [JobProblem]) {
    var (arguments, problems): ([String], [JobProblem]) = ([], [])
    for name in fields.keys.sorted() {
      let place = JobProblem.pointer(pointer, name.printable(utf8Bytes: 64))
      guard let option = table.first(where: { $0.name == name }), let value = fields[name] else {
        problems.append(JobProblem(place, "There is no such option; these are: \(names(in: table))."))
        continue
      }
      do {
        arguments += try option.arguments(of: value, at: place, library: library)
      } catch {
        problems.append(error)
      }
    }
    return (arguments, problems)
  }

  private static func names(in table: [JobOption]) -> String { table.map(\.name).sorted().joined(separator: ", ") }

  /// Options that exclude or need each other.
  static func contradictions(
    _ fields: [String: JSONValue], of kind: JobKind, at pointer: String
  ) -> [JobProblem] {
    func isSet(_ name: String) -> Bool { fields[name]?.bool == true }
    func needs(_ name: String, _ other: String) -> JobProblem? {
      fields[name] == nil || isSet(other) || (fields[other]?.bool == nil && fields[other] != nil) || !isMeant(name)
        ? nil : JobProblem(JobProblem.pointer(pointer, name), "\(name) needs \(other).")
    }
    func isMeant(_ name: String) -> Bool { fields[name]?.bool != false }
    var problems: [JobProblem?] = []
    switch kind {
    case .record, .loopback: break
    case .play:
      if fields["input"] == nil { problems.append(JobProblem(pointer, "A job of the kind play needs input.")) }
    case .check:
      problems.append(needs("seed", "impair"))
      for name in ["size", "fps", "live", "sendCodec", "once"] { problems.append(needs(name, "input")) }
      if isSet("noAudio"), isSet("noVideo") {
        problems.append(
          JobProblem(JobProblem.pointer(pointer, "noVideo"), "Without audio and video there is nothing to judge."))
      }
      if let both = texts(fields["only"]).first(where: texts(fields["ignore"]).contains) {
        problems.append(
          JobProblem(JobProblem.pointer(pointer, "only"), "“\(both)” cannot be in both only and ignore."))
      }
    }
    return problems.compactMap(\.self)
  }

  private static func texts(_ value: JSONValue?) -> Set<UntrustedText> {
    switch value {
    case .string(let text): [text]
    case .array(let values): Set(values.compactMap(\.string))
    default: []
    }
  }
}
