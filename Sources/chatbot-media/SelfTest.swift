import CMediaProgram
import CMediaSockets
import Glibc
import MediaMessages

/// Tries in workers what the sandbox refuses, and prints the results: for the test of the sandbox, and for people who want to know
/// what their system allows.
enum SelfTest {
  private static let patience: Int32 = 5_000

  /// - Parameter kind: of the worker that tries; nil for one without a sandbox.
  /// - Returns: whether every attempt was refused.
  static func run(_ kind: WorkerKind?) -> Bool {
    Launcher.prepare()
    if kind != nil {
      let steps = cmediaprogram_isolate()
      print("namespaces: \(steps & 1 != 0 ? "own" : "not allowed here")")
      print("file system: \(steps & 2 != 0 ? "empty" : "not allowed here")")
    }
    var isSafe = true
    var index: Int32 = 0
    while let name = cmediaprogram_attempt_name(index) {
      let result = attempt(index, kind)
      print("\(String(cString: name)): \(result ?? "done")")
      isSafe = isSafe && result != nil
      index += 1
    }
    return isSafe
  }

  /// - Returns: how the attempt failed; nil if it succeeded.
  private static func attempt(_ index: Int32, _ kind: WorkerKind?) -> String? {
    var ends: [Int32] = [-1, -1]
    guard cmedia_pair(&ends) == 0 else { return nil }
    let memory = cmedia_memory(MediaLimits.sharedBytes)
    let parent = getpid()
    fflush(nil)
    let child = cmediaprogram_fork()
    if child == 0 { Worker.run(socket: ends[1], memory: memory, parent: parent, kind) }
    close(ends[1])
    close(memory)
    defer { close(ends[0]) }
    let request = MediaRequest(1, .attempt(Int(index))).encoded
    _ = cmedia_send(ends[0], request, request.count, nil, 0)
    var bytes = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    let received = cmedia_receive(ends[0], &bytes, bytes.count, patience, nil, nil)
    let status = cmediaprogram_end(child)
    if received > 0, let response = try? MediaResponse(parsing: Array(bytes.prefix(received))),
      case .attempted(let error) = response.body
    {
      return error == 0 ? nil : "error \(error), \(String(cString: strerror(error)))"
    }
    // The program that it runs instead has closed the socket, and has ended or been ended by us.
    if status == 0 || status == -SIGKILL { return nil }
    return status == -SIGSYS ? "SIGSYS" : "ended with \(status)"
  }
}
