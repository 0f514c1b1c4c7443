package import JSON
internal import Media
internal import OptionValues

extension JobSpecification {
  /// The maximum number of characters of a room's name.
  package static let maximumRoom = 128
  private static let maximumID = 64
  private static let maximumURL = 2_048
  private static let maximumPath = 4_096
  private static let maximumICEServers = 16
  /// The maximum time of a limit: more than a hundred years.
  private static let maximumTime: Int64 = TimeSpan.maximumHours * 3_600_000

  /// What is wrong with the specification; empty if a process can run it.
  package func validate() -> [JobProblem] { checked(in: "").problems }

  /// The arguments of the command that runs the job: the command's name and its long options, without secrets.
  ///
  /// - Parameter folder: the job's folder as the process names it.
  package func arguments(in folder: String) throws(JobProblem) -> [String] {
    let (arguments, problems) = checked(in: folder)
    if let problem = problems.first { throw problem }
    return arguments
  }

  private func checked(in folder: String) -> (arguments: [String], problems: [JobProblem]) {
    var problems = ownProblems
    var arguments = [kind == .check ? "check" : "call", "--server=\(server.url)"]
    if let room { arguments.append("--room=\(room)") }
    if let user { arguments.append("--user=\(user)") }
    arguments += server.iceServers.map { "--ice-server=\($0)" }
    let network = JobOptions.arguments(server.options, in: JobOptions.network, at: "/server/options", library: nil)
    // Who is paused at the beginning is not an option of an attempt.
    let own = JobOptions.arguments(
      options.filter { $0.key != "consent" }, in: JobOptions.of(kind), at: "/options", library: library)
    problems += network.problems + JobOptions.validate(.object(options), of: kind, at: "/options")
    arguments += network.arguments + own.arguments
    let media = folder.hasSuffix("/") || folder.isEmpty ? folder + JobFolder.media : "\(folder)/\(JobFolder.media)"
    switch kind {
    case .record: arguments.append("--record=\(media)")
    case .play: break
    case .loopback: arguments.append("--loopback")
    case .check: arguments += ["--json=\(media)/report.json", "--html=\(media)/report.html"]
    }
    if kind != .check {
      arguments += [
        ("--duration", end.duration), ("--leave-when-empty", end.emptyFor), ("--leave-if-nobody", end.nobodyWithin),
      ].compactMap { name, time in time.map { "\(name)=\($0)ms" } }
    }
    return (arguments, problems)
  }

  private var ownProblems: [JobProblem] {
    var problems: [JobProblem] = []
    func check(_ isRight: Bool, _ pointer: String, _ sentence: String) {
      if !isRight { problems.append(JobProblem(pointer, sentence)) }
    }
    func isID(_ text: String) -> Bool {
      (1...Self.maximumID).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
    func isText(_ text: String, _ maximum: Int) -> Bool {
      (1...maximum).contains(text.utf8.count) && !text.utf8.contains(0)
    }
    check(
      self.protocol == JobProtocol.version, "/protocol",
      "The version of the interface is \(JobProtocol.version), not \(self.protocol).")
    check(isID(job), "/job", "The id of a job has 1 to \(Self.maximumID) ASCII characters.")
    check(isID(attemptID), "/attemptID", "The id of an attempt has 1 to \(Self.maximumID) ASCII characters.")
    check(attempt >= 1, "/attempt", "The number of an attempt is at least 1.")
    check(isText(server.url, Self.maximumURL), "/server/url", "An address has 1 to \(Self.maximumURL) bytes.")
    check(
      server.iceServers.count <= Self.maximumICEServers && server.iceServers.allSatisfy { isText($0, Self.maximumURL) },
      "/server/iceServers", "At most \(Self.maximumICEServers) addresses of ICE servers can be given.")
    if let room {
      check(
        (1...Self.maximumRoom).contains(room.unicodeScalars.count) && !room.utf8.contains(0), "/room",
        "A room's name has 1 to \(Self.maximumRoom) characters.")
    }
    if let user { check(isText(user, 256), "/user", "The name of a user has 1 to 256 bytes.") }
    if let library {
      check(
        library.hasPrefix("/") && isText(library, Self.maximumPath), "/library",
        "The library is the absolute path of a folder.")
    }
    if let orphanLimit {
      check((1_000...Self.maximumTime).contains(orphanLimit), "/orphanLimit", "orphanLimit is at least 1000 ms.")
    }
    for (name, time) in [
      ("duration", end.duration), ("emptyFor", end.emptyFor), ("nobodyWithin", end.nobodyWithin),
    ] {
      guard let time else { continue }
      check((1...Self.maximumTime).contains(time), "/end/\(name)", "\(name) is 1 to \(Self.maximumTime) ms.")
    }
    if let paused {
      check(
        paused.isWithinLimits, "/paused",
        "At most \(PauseState.maximumUsers) users with \(PauseState.maximumBytes) bytes can be named.")
    }
    if library == nil, let input = options["input"]?.string, input != UntrustedText(JobOption.pattern) {
      problems.append(JobProblem("/options/input", "Without a library only “\(JobOption.pattern)” can be played."))
    }
    return problems
  }
}

extension JobEnd {
  /// Reads the limits as the author of a job writes them: an object of texts such as `4h`, where null is no limit.
  ///
  /// - Parameter pointer: to the object.
  /// - Throws: the first problem.
  package init(parsing value: JSONValue, at pointer: String) throws(JobProblem) {
    guard case .object(let fields) = value else { throw JobProblem(pointer, "The limits are an object.") }
    self.init()
    for name in fields.keys.sorted() {
      let place = JobProblem.pointer(pointer, name.printable(utf8Bytes: 64))
      let limit: WritableKeyPath<JobEnd, Int64?>
      switch name {
      case "duration": limit = \.duration
      case "emptyFor": limit = \.emptyFor
      case "nobodyWithin": limit = \.nobodyWithin
      default: throw JobProblem(place, "There is no such limit; these are: duration, emptyFor, nobodyWithin.")
      }
      if fields[name] == .null {
        self[keyPath: limit] = nil
        continue
      }
      guard let text = fields[name]?.string?.ascii, text.utf8.count <= 64 else {
        throw JobProblem(place, "\(name) is a time such as 90s, 10m or 4h, or null for no limit.")
      }
      do {
        let time = try TimeSpan(text)
        guard time.milliseconds > 0 else { throw JobProblem(place, "\(name) is more than 0s.") }
        self[keyPath: limit] = time.milliseconds
      } catch let problem as JobProblem {
        throw problem
      } catch {
        throw JobProblem(place, "\(error)")
      }
    }
  }
}
