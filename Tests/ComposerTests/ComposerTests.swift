import Composer
import Testing
