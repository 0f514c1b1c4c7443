import FoundationEssentials
import Glibc
import Media
import OptionValues

extension ServiceConfiguration {
  /// The variable with the path of the file of settings.
  package static let fileVariable = "CHATBOT_SERVICE_CONFIG"

  /// Why the settings cannot be used.
  package struct LoadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line for each problem, with the file and its line.
    package var description: String
  }

  /// Reads the file of settings; without one, all settings have their defaults. Blocks while it reads.
  ///
  /// - Parameter path: The value of `--config`, else that of ``fileVariable``.
  package static func load(from path: String?) throws(LoadError) -> ServiceConfiguration {
    guard let path else { return ServiceConfiguration() }
    do {
      let data = try BoundedFile.read(path, longest: maximumFileBytes)
      guard let text = String(validating: data, as: UTF8.self) else {
        throw ConfigurationError([.init(line: 1, sentence: "The file is not UTF-8.")])
      }
      return try ServiceConfiguration(yaml: text)
    } catch let error as ConfigurationError {
      throw LoadError(
        description: error.problems.map { "\(path):\($0.line): \($0.sentence)" }.joined(separator: "\n"))
    } catch let error as BoundedFile.ReadError {
      throw LoadError(description: error.sentence)
    } catch {
      throw LoadError(description: "\(path) cannot be read.")
    }
  }

  /// What is wrong with settings that are each valid; nil if nothing is.
  package var problem: String? {
    if !listen.isLoopback, tls == nil, !allowsPlainHTTP {
      return "Other machines reach \(listen), and HTTP would be plain: configure “tls”, or give --plain-http."
    }
    if servers.isEmpty, !allowsAnyServer {
      return "No server is configured, and allowAnyServer is false: no job could run."
    }
    return nil
  }

  /// The name of this service among those that use the same database.
  package var nodeName: String { node ?? Self.hostName }

  /// Whether a text can be the name of a node, which is a part of URLs, of a server or of a secret.
  package static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "-_.".utf8.contains($0)
      }
  }

  /// The name of the host as a name of a node; `node` if it cannot be one.
  private static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "node" }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let name = String(decoding: bytes, as: UTF8.self)
    return isName(name) ? name : "node"
  }

  package var tokensPath: String { tokensFile ?? "\(data)/tokens" }
  package var secretKeyPath: String { secretKeyFile ?? "\(data)/secret.key" }
}
