internal import FoundationEssentials
internal import Glibc
internal import JobProtocol
internal import OptionValues

/// What a job process reads when it begins.
enum JobInput {
  /// Reads the secrets up to the end of a file, and closes nothing.
  static func secrets(from descriptor: Int32) throws(JobFailure) -> JobSecrets {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    defer { for index in buffer.indices { buffer[index] = 0 } }
    while bytes.count <= JobSecrets.maximumBytes {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // Without standard input there are no secrets.
      guard count >= 0 || errno == EBADF else {
        throw .usage("Standard input cannot be read: \(JobDirectory.words(errno)).")
      }
      if count <= 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    do {
      return try JobSecrets(parsing: bytes)
    } catch {
      throw .usage(error.description)
    }
  }

  /// Reads and checks the specification.
  static func specification(in directory: JobDirectory) throws(JobFailure) -> JobSpecification {
    let bytes: Data
    do {
      bytes = try BoundedFile.read(
        directory.path(of: JobFolder.specification), longest: JobSpecification.maximumBytes)
    } catch {
      throw .usage(error.sentence)
    }
    do {
      let specification = try JobSpecification(parsing: bytes)
      if let problem = specification.validate().first { throw JobFailure.usage("\(problem)") }
      return specification
    } catch let failure as JobFailure {
      throw failure
    } catch {
      throw .usage("\(error)")
    }
  }
}
